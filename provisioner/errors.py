"""Everything that Firstlight raises on purpose. Classes differ only where a caller does something different.

FirstlightError
├── BadInput              a person wrote something wrong: show it, exit 2, start nothing
│   └── Refused           what was asked for cannot be: 422 with every reason and the field that it is about
├── NotFound              nothing has that name: 404
├── Conflict              the world has moved on since the caller looked: read again, 409
├── NeedsPerson           hold the node; carries the instruction
├── LeaseLost             this worker no longer owns its slot: stop the process
├── SchedulerError        Slurm or Kubernetes is away, or says no: the text says what to do; look again later
├── PackageError          a firmware file that must reach no BMC: carries the field, its offset and a remedy
└── BmcError              carries the BMC's address
    ├── BmcUnreachable    no answer, or none that makes sense: retry within a budget
    ├── AnswerLost        a POST may have been acted on: never repeat it before reading the state back
    ├── BmcRefused        a clear no with the BMC's own words: do not retry
    │   └── OneTargetOnly it takes one target with an update: send one update after the other
    ├── ResourceGone      404 for something that was expected to be there: judge by other means
    ├── NotAchieved       done as asked, yet the device is not as wanted: try again as a whole, then hold
    ├── LoginRefused      this user name and password do not work: count it, do not retry
    ├── LoginBudgetSpent  one more try could lock the account: we did not even try
    └── CertificateChanged  the pinned certificate is not the one shown: somebody must look
"""

from collections.abc import Iterable

from provisioner.models.instruction import Instruction


class FirstlightError(Exception):
    """The root of the tree; its text is fit for a log, a page and a person."""


class BadInput(FirstlightError):
    """What a person wrote cannot be used; the text names file, line, field and a remedy."""


class Refused(BadInput):
    """What somebody asks for cannot be, for every one of `findings`: a JSON pointer into the request, and the text."""

    def __init__(self, what: str, findings: Iterable[tuple[str, str]]) -> None:
        """`what`: what it is about, such as the name of a rollout."""
        self.findings = tuple(findings)
        super().__init__("\n".join(f"{what}: {pointer}: {text}" for pointer, text in self.findings))


class NotFound(FirstlightError):
    """Nothing has that name."""


class Conflict(FirstlightError):
    """The caller acted on something that has changed in the meantime."""


class LeaseLost(FirstlightError):
    """The slot of this worker belongs to somebody else now."""


class PackageError(FirstlightError):
    """A firmware file is damaged, or not what it says it is; nothing of it may be sent to a device."""

    def __init__(self, field: str, offset: int | None, problem: str, remedy: str) -> None:
        """`field` is named as in DSP0267; `offset` is its place in the file in bytes, if it has one."""
        place = "" if offset is None else f" at byte {offset} ({offset:#x})"
        super().__init__(f"{field}{place}: {problem}; {remedy}")
        self.field = field
        self.offset = offset
        self.problem = problem
        self.remedy = remedy


class SchedulerError(FirstlightError):
    """A scheduler does not answer, or refuses. Nothing is known about its nodes then; they count as in use."""

    def __init__(self, scheduler: str, problem: str, remedy: str, *, retry_after_seconds: float | None = None) -> None:
        """`scheduler`: kind and place, such as `slurm`. `retry_after_seconds` is what it asked for, if it did."""
        super().__init__(f"{scheduler}: {problem}; {remedy}")
        self.scheduler = scheduler
        self.problem = problem
        self.remedy = remedy
        self.retry_after_seconds = retry_after_seconds


class NeedsPerson(FirstlightError):
    """The node cannot go on by itself; the instruction says what one person does next."""

    def __init__(self, reason: str, instruction: Instruction) -> None:
        """`reason` is what was seen; `instruction` is what to do about it."""
        super().__init__(reason)
        self.reason = reason
        self.instruction = instruction


class BmcError(FirstlightError):
    """Something about one BMC; the text starts with its address."""

    def __init__(self, bmc: str, message: str) -> None:
        """`bmc` is `address:port`; `message` is what happened in the BMC's own words where it gave any."""
        super().__init__(f"{bmc}: {message}")
        self.bmc = bmc
        self.message = message


class BmcUnreachable(BmcError):
    """No answer, or an answer that is no Redfish: refused, silent, 503, HTML, half a JSON document."""

    def __init__(self, bmc: str, message: str, retry_after_seconds: float | None = None) -> None:
        """`retry_after_seconds` is what the BMC asked for (`Retry-After`), if it did."""
        super().__init__(bmc, message)
        self.retry_after_seconds = retry_after_seconds


class AnswerLost(BmcError):
    """A request that changes something was sent and its answer never came."""


class BmcRefused(BmcError):
    """The BMC said no (4xx) and will say so again."""

    def __init__(self, bmc: str, message: str, status: int, ids: tuple[str, ...] = ()) -> None:
        """`status` is the HTTP status; `ids` are the MessageIds of the answer, as far as it had any."""
        super().__init__(bmc, message)
        self.status = status
        self.ids = ids


class OneTargetOnly(BmcRefused):
    """The BMC takes one target with each update; nothing was begun (ansible-collections/community.general#5580)."""


class ResourceGone(BmcError):
    """404 or 410 for a resource that was there before, such as a finished task."""


class NotAchieved(BmcError):
    """The BMC took everything, and the state that was read back is still not the wanted one."""


class LoginRefused(BmcError):
    """The BMC refused this user name and password."""


class LoginBudgetSpent(BmcError):
    """Trying once more could lock the account, so nothing was sent."""


class CertificateChanged(BmcError):
    """The BMC shows another certificate than the one that was pinned on first use."""
