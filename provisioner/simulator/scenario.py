"""What is simulated: a site, a release, and everything that goes wrong meanwhile."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from datetime import timedelta
from enum import StrEnum
from math import inf

from provisioner.errors import BadInput
from provisioner.models.identifiers import ReleaseDigest
from provisioner.rollout.spec import Floor, ReturnScope, Soak, Spec

OLD = ReleaseDigest("sha256:blue")
NEW = ReleaseDigest("sha256:green")
MOST_NODES = 1_000_000


class Inconclusive(StrEnum):
    """What the simulated operator does about a gate that cannot tell."""

    GO_ON = "go-on"
    """The next wave tells more; but where nothing of the wave runs the new release, it goes back."""
    STOP = "stop"
    WAIT = "wait"
    """Nobody is there: the run ends."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One world; with the same values (the seed among them) everything in it happens again. Shares go from 0 to 1."""

    nodes: int = 10_000
    seed: int = 1
    domain_size: int = 18
    """Nodes of one NVLink domain, which move together; 1: each by itself."""
    floor: Floor = field(default_factory=lambda: Floor(percent=90))
    defect_rate: float = 0.0
    """Share of nodes on which the new release fails, at its check; every time."""
    late_defects: float = 0.0
    """Share of those that pass their check, and fail in service some hour later."""
    base_failure: float = 0.01
    """Share of boots after which the node fails its check whatever it runs."""
    boot_failure: float = 0.02
    """Share of resets after which nothing comes up until the next reset."""
    stale_digests: float = 0.0
    """Share of boots after which the node names the release before for ten minutes more."""
    job_hours: float = 0.0
    """Median length of jobs that run to their end, with a heavy tail; 0: all write a checkpoint within ten minutes."""
    checkpointing: float = 0.9
    """Share of domains whose jobs write a checkpoint all the same; of no effect without `job_hours`."""
    power_loss: int = 0
    """Power domains that fail, with a unit in hand where there is one."""
    lost_telemetry: int = 0
    """Leaf domains of which nothing is heard for a while."""
    clock_jumps: int = 0
    """Jumps of the controller's clock by up to six hours, back or forth."""
    controller_kills: int = 0
    pauses: int = 0
    """Times that a person pauses it for half an hour."""
    fault_hours: float = 6.0
    """These five happen within so many hours of the start."""
    canaries: int = 5
    """Units of the first wave."""
    run_short: int | None = None
    """Nodes that a unit may go on without; None: one in nine."""
    soak_minutes: float = 60.0
    drain_minutes: float = 30.0
    """How long one drain may take before the unit is put back and tried later."""
    return_scope: ReturnScope = ReturnScope.ALL
    on_inconclusive: Inconclusive = Inconclusive.GO_ON
    max_days: float = 14.0
    """The simulated time after which a run that has not ended is given up."""

    @property
    def gpus_per_node(self) -> int:
        """Four in a compute tray of an NVLink domain, eight in a server by itself."""
        return 4 if self.domain_size > 1 else 8

    def check(self) -> None:
        """Raises `BadInput` with every value that cannot be."""
        found = [f"--{name.replace('_', '-')}: {text}" for name, text in _problems(self)]
        if found:
            raise BadInput("\n".join(found))

    def spec(self) -> Spec:
        """The rollout that is asked for."""
        self.check()
        return Spec(
            name="simulation",
            pool="simulated",
            from_release=OLD,
            to_release=NEW,
            floor=self.floor,
            soak=Soak(timedelta(minutes=self.soak_minutes)),
            canaries_per_kind=self.canaries,
            drain_deadline=timedelta(minutes=self.drain_minutes),
            may_run_short=self.domain_size // 9 if self.run_short is None else self.run_short,
            return_scope=self.return_scope,
            seed=self.seed,
        )


_SHARES = frozenset({"defect_rate", "late_defects", "base_failure", "boot_failure", "stale_digests", "checkpointing"})
_FROM_0 = frozenset(
    {"power_loss", "lost_telemetry", "clock_jumps", "controller_kills", "pauses", "job_hours", "soak_minutes"}
)
_ABOVE_0 = frozenset({"fault_hours", "drain_minutes", "max_days"})


def _problems(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Name of the field, and what is wrong with its value and what would be right."""
    if not 1 <= scenario.nodes <= MOST_NODES:
        yield "nodes", f"{scenario.nodes}: give 1 to {MOST_NODES}"
    if not 1 <= scenario.domain_size <= max(1, scenario.nodes):
        yield "domain_size", f"{scenario.domain_size}: give 1 to the number of nodes"
    if scenario.canaries < 1:
        yield "canaries", f"{scenario.canaries}: give 1 or more"
    if scenario.run_short is not None and not 0 <= scenario.run_short < max(1, scenario.domain_size):
        yield "run_short", f"{scenario.run_short}: give 0 or more, and less than the nodes of a domain"
    for name in (one.name for one in fields(scenario)):
        if text := _number_problem(name, getattr(scenario, name)):
            yield name, text


def _number_problem(name: str, value: float) -> str | None:
    if name in _SHARES and not 0 <= value <= 1:
        return f"{value:g} is not a share: give 0 to 1, such as 0.15 for 15 %"
    if name in _FROM_0 and not 0 <= value < inf:
        return f"{value:g}: give 0 or more"
    if name in _ABOVE_0 and not 0 < value < inf:
        return f"{value:g}: give more than 0"
    return None
