"""What a BMC or a host can do wrong, as data: a name, what happens, a public source, arguments with defaults.

Every fault takes `times`: how often it happens before it heals (None: for ever). Faults of answers also take
`method` and `path`: only requests of that method whose path contains that text are hit (empty: all).
"""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

Arguments = Mapping[str, Any]

_ANSWER: Arguments = {"method": "", "path": ""}


@dataclass(frozen=True, slots=True)
class Fault:
    """`effect` says what happens; `source` is where it was seen in public."""

    name: str
    effect: str
    source: str
    arguments: Arguments = field(default_factory=dict)


FAULTS: tuple[Fault, ...] = (
    Fault("refuse-connections", "connections are reset before TLS", "Mellanox/dpu-update#96"),
    Fault(
        "slow-answers",
        "every answer takes `seconds` seconds of the wall clock",
        "DMTF/Redfishtool#15",
        {**_ANSWER, "seconds": 2.0},
    ),
    Fault(
        "half-body",
        "the connection ends in the middle of the body",
        "openstack/sushy, release note disable-conn-pooling",
        _ANSWER,
    ),
    Fault(
        "service-unavailable",
        "503 with Retry-After: `retry_after` seconds",
        "sonic-net/sonic-platform-common#707",
        {**_ANSWER, "retry_after": 1},
    ),
    Fault("html-answers", "a login page in HTML with status 200", "influxdata/telegraf#19295", _ANSWER),
    Fault("silent", "the request is read and never acted upon or answered", "dsx-ai-factory/libredfish#36", _ANSWER),
    Fault(
        "post-answer-lost",
        "a POST is acted upon, the answer is never sent",
        "stmcginnis/gofish#494",
        {"path": ""},
    ),
    Fault(
        "wrong-password",
        "the factory password is `password`, not what the label says",
        "dsx-ai-factory/infra-controller#1294",
        {"password": "LeftByTheLastOwner1"},
    ),
    Fault("session-limit", "only `limit` sessions may be open", "bb-Ricardo/check_redfish#89", {"limit": 0}),
    Fault(
        "task-vanishes",
        "the task answers 404 (`when`: start or completion) while the flash succeeds",
        "ironcore-dev/metal-operator#617",
        {"when": "completion"},
    ),
    Fault("task-fails", "the task ends in Exception, nothing is flashed", "ironcore-dev/metal-operator#453"),
    Fault(
        "flash-completes-old-version",
        "the task ends in Completed, the version stays as it was",
        "openbmc/bmcweb#206",
        {"component": ""},
    ),
    Fault(
        "expand-broken",
        "$expand is claimed but wrong (`how`: partial = half of the members, links = not expanded)",
        "dsx-ai-factory/infra-controller#4100",
        {"how": "partial"},
    ),
    Fault("etag-required", "a PATCH without If-Match is refused with 428", "ansible/ansible#60031"),
    Fault("duplicate-serial", "the serial number reads `serial`", "xcat2/xcat-core#5428", {"serial": "0123456789"}),
    Fault(
        "placeholder-serial",
        "the serial number reads as the maker of the board left it",
        "lf-edge/eve#6381",
        {"serial": "To be filled by O.E.M."},
    ),
    Fault("gpu-missing", "the GPU at `index` (from zero) is not seen", "NVIDIA/NVSentinel#684", {"index": 0}),
    Fault(
        "bios-late-rejection",
        "BIOS attributes are accepted, and not applied after the reset (`attributes`: only these; empty: all)",
        "HewlettPackard/python-ilorest-library#91",
        {"attributes": ()},
    ),
    Fault(
        "power-lost-while-booting",
        "the host loses power while it boots and stays off",
        "operate-first/operations#356",
        {"times": 1},
    ),
    Fault(
        "agent-killed",
        "the process on the node is killed `seconds` seconds of the wall clock after its start",
        "buildkite/elastic-ci-stack-for-aws#882",
        {"times": 1, "seconds": 2.0},
    ),
    Fault(
        "wrong-artefact", "bytes of the root are changed on their way to the node", "netbootxyz/docker-netbootxyz#100"
    ),
    Fault(
        "boot-server-unreachable",
        "boot requests get no answer for `seconds` seconds of the wall clock after POST (0: for ever)",
        "danderson/netboot#50",
        {"seconds": 0.0},
    ),
)

BY_NAME: Mapping[str, Fault] = MappingProxyType({fault.name: fault for fault in FAULTS})


def read_fault(setting: str | Mapping[str, Arguments | None], /) -> tuple[str, dict[str, Any]]:
    """A fault as a file, an option or a caller names it: `name` or `{name: {argument: value}}`.

    Returns its name and all its arguments. Raises ValueError for an unknown fault or argument.
    """
    if not isinstance(setting, str) and len(setting) != 1:
        raise ValueError(f"a fault is a name or one name with its arguments, not {setting!r}")
    name, given = (setting, None) if isinstance(setting, str) else next(iter(setting.items()))
    if name not in BY_NAME:
        raise ValueError(_unknown("fault", name, list(BY_NAME)))
    arguments: dict[str, Any] = {"times": None, **BY_NAME[name].arguments}
    for key, value in (given or {}).items():
        if key not in arguments:
            raise ValueError(f"{name}: {_unknown('argument', key, list(arguments))}")
        arguments[key] = value
    return name, arguments


class ActiveFaults:
    """The faults of one machine. `spent` counts how often each has happened; it is kept with the machine's state."""

    def __init__(self, spent: dict[str, int]) -> None:
        """No fault is active yet."""
        self._spent = spent
        self._active: dict[str, dict[str, Any]] = {}

    def __bool__(self) -> bool:
        """Whether any fault was set."""
        return bool(self._active)

    def plant(self, setting: str | Mapping[str, Arguments | None]) -> None:
        """Set a fault that the machine has from the start; what it has done before counts."""
        name, arguments = read_fault(setting)
        self._active[name] = arguments

    def set(self, name: str, arguments: Arguments) -> None:
        """Set a fault now; it starts afresh. Raises ValueError for an unknown fault or argument."""
        name, complete = read_fault({name: arguments})
        self._spent.pop(name, None)
        self._active[name] = complete

    def clear(self, name: str) -> None:
        """Heal a fault; nothing happens when it is not there."""
        self._active.pop(name, None)

    def peek(self, name: str) -> Arguments | None:
        """The arguments of the fault while it is active, without spending it."""
        arguments = self._active.get(name)
        if arguments is None:
            return None
        times = arguments["times"]
        return arguments if times is None or self._spent.get(name, 0) < times else None

    def take(self, name: str) -> Arguments | None:
        """The arguments of the fault when it happens now; counts."""
        arguments = self.peek(name)
        if arguments is not None:
            self._spent[name] = self._spent.get(name, 0) + 1
        return arguments

    def listing(self) -> dict[str, dict[str, Any]]:
        """What is set, with arguments and how often each has happened."""
        return {name: {**arguments, "happened": self._spent.get(name, 0)} for name, arguments in self._active.items()}


def _unknown(kind: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"unknown {kind} '{name}'; " + (f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}")
