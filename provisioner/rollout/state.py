"""A rollout, its waves and its units, as they are kept. Everything in it is read only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from provisioner.models.identifiers import NodeName
from provisioner.rollout.observation import Facts
from provisioner.rollout.plan import Plan
from provisioner.rollout.unit import Domain, UnitName


class RolloutState(StrEnum):
    """Where a rollout is."""

    DRAFT = "draft"
    PLANNED = "planned"
    APPROVED = "approved"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETE = "complete"
    RETURNING = "returning"
    RETURNED = "returned"
    ABORTED = "aborted"
    """Frozen: units in hand finish, none is started, nothing moves back."""
    NEEDS_HUMAN = "needs_human"


class PausedBy(StrEnum):
    """Who or what paused it. A person or a gate until a person acts; the others until their cause is gone."""

    PERSON = "person"
    GATE = "gate"
    WINDOW = "window"
    FLOOR = "floor"
    BLOCKED = "blocked"
    """What is left waits for somebody: a foreign cordon, a lease, a drain that does not end.

    On the way back, too: then the rollout is `RETURNING`, and goes on by itself when the cause is gone.
    """


class WaveState(StrEnum):
    """Where a wave is. They come one after the other."""

    PENDING = "pending"
    OPEN = "open"
    SOAKING = "soaking"
    JUDGED = "judged"
    CLOSED = "closed"


class Verdict(StrEnum):
    """What a gate says of a wave."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"


class UnitState(StrEnum):
    """What a unit is being brought to; it goes on when all its nodes were observed to be there."""

    ON_OLD = "on_old"
    RESERVED = "reserved"
    CORDONED = "cordoned"
    DRAINING = "draining"
    DRAINED = "drained"
    FW_STAGED = "fw_staged"
    FW_APPLIED = "fw_applied"
    FLIPPED = "flipped"
    REBOOTING = "rebooting"
    OBSERVED = "observed"
    CHECKED = "checked"
    BURNED_IN = "burned_in"
    READY = "ready"
    UNCORDONED = "uncordoned"
    ON_NEW = "on_new"
    RETURN_FLIPPED = "return_flipped"
    RETURN_REBOOTING = "return_rebooting"
    RETURN_CHECKED = "return_checked"
    QUARANTINED = "quarantined"
    REMOVED = "removed"


AT_REST = frozenset({UnitState.ON_OLD, UnitState.ON_NEW, UnitState.REMOVED, UnitState.QUARANTINED})
IN_SERVICE = frozenset({UnitState.ON_OLD, UnitState.ON_NEW})
"""Its nodes count for the floor, as far as they are available."""
UNCHANGED = frozenset({UnitState.RESERVED, UnitState.CORDONED, UnitState.DRAINING, UnitState.DRAINED})
"""In hand, and nothing was done to the nodes yet that would need undoing."""


class Heading(StrEnum):
    """Where a unit in hand goes."""

    TO_NEW = "to_new"
    TO_OLD = "to_old"
    CANCELLED = "cancelled"
    """Back into service as it came, unchanged."""


@dataclass(frozen=True, slots=True)
class UnitTask:
    """One unit that has been in hand. Times are of the rollout's own clock."""

    unit: UnitName
    wave: int
    state: UnitState
    heading: Heading = Heading.TO_NEW
    origin: UnitState = UnitState.ON_OLD
    """Where it came from and goes when cancelled."""
    attempt: int = 1
    generation: int = 1
    deadline: timedelta = timedelta(0)
    boot_ids: Mapping[NodeName, str] = field(default_factory=dict)
    """Of each node when its reboot was decided."""
    booted: Mapping[NodeName, str] = field(default_factory=dict)
    """Of each node when it came back."""
    quarantined: frozenset[NodeName] = frozenset()
    """Nodes that it goes on without."""
    was_broken: bool = False
    """No node of it was available when it was taken: what becomes of it says nothing about the release."""
    firmware_applied: bool = False
    failed: bool = False
    """The new release failed on it."""
    returned: bool = False
    deferrals: int = 0
    not_before: timedelta = timedelta(0)
    why: str = ""

    def entering(
        self,
        state: UnitState,
        *,
        deadline: timedelta,
        boot_ids: Mapping[NodeName, str],
        booted: Mapping[NodeName, str],
        firmware_applied: bool,
    ) -> "UnitTask":
        """In `state`, at its first attempt; all else as it is. Written out: `replace` takes twice as long."""
        return UnitTask(
            self.unit,
            self.wave,
            state,
            self.heading,
            self.origin,
            1,
            self.generation,
            deadline,
            boot_ids,
            booted,
            self.quarantined,
            self.was_broken,
            firmware_applied,
            self.failed,
            self.returned,
            self.deferrals,
            self.not_before,
            self.why,
        )


@dataclass(frozen=True, slots=True)
class Wave:
    """One wave. Times are of the rollout's own clock, which no jump of the real one moves."""

    number: int
    state: WaveState = WaveState.PENDING
    opened_at: timedelta | None = None
    soaked: timedelta = timedelta(0)
    node_hours: float = 0.0
    verdict: Verdict | None = None
    why: str = ""
    failed_units: int = 0


@dataclass(frozen=True, slots=True)
class GateKey:
    """One judgement. Another wave, or another generation of the rollout, is another one."""

    generation: int
    wave: int


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about one inconclusive gate: recorded once, used once."""

    key: GateKey
    verdict: Verdict
    who: str
    why: str
    used: bool = False


@dataclass(frozen=True, slots=True)
class Trials:
    """Nodes tried, and those of them that failed."""

    nodes: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Tallies:
    """Counted as things change, so that no step counts a whole fleet. `tallies.recounted` says what they must be."""

    up: Mapping[UnitName, int] = field(default_factory=dict)
    """Available nodes of each unit."""
    nodes: Mapping[str, int] = field(default_factory=dict)
    """All nodes of each hardware class."""
    in_service: Mapping[str, int] = field(default_factory=dict)
    busy: Mapping[Domain, int] = field(default_factory=dict)
    """Units in hand in each domain that has a cap."""
    in_hand: Mapping[UnitName, None] = field(default_factory=dict)
    pending: Mapping[UnitName, None] = field(default_factory=dict)
    """Units of the open wave that are still to be taken, in order; on the way back, those still to go back."""
    trials: Mapping[str, Trials] = field(default_factory=dict)
    """Of the new release, by hardware class."""
    control: Mapping[str, Trials] = field(default_factory=dict)
    """Of units that were never taken, by hardware class."""
    broken: Mapping[NodeName, bool] = field(default_factory=dict)
    """Nodes that broke in service in this turn of their unit; True for those that stand for a failure in the counts."""


@dataclass(frozen=True, slots=True)
class Rollout:
    """One rollout as it is kept: in one piece, together with the intents of the step that made it."""

    plan: Plan
    state: RolloutState = RolloutState.DRAFT
    paused_by: PausedBy | None = None
    why: str = ""
    epoch: int = 0
    """Of the controller that may change it."""
    generation: int = 1
    """Grows when its direction changes."""
    clock: timedelta = timedelta(0)
    """Its own time: real time, but for jumps, stalls and steps back."""
    stepped_at: datetime | None = None
    closed_at: datetime | None = None
    return_from_wave: int = 0
    """On the way back: the first wave that goes back."""
    approved_by: str = ""
    irreversible_approved_by: str = ""
    waves: tuple[Wave, ...] = ()
    tasks: Mapping[UnitName, UnitTask] = field(default_factory=dict)
    """Of units that have been taken; any other is on the old release."""
    facts: Mapping[NodeName, Facts] = field(default_factory=dict)
    heard: Mapping[NodeName, timedelta] = field(default_factory=dict)
    gone: frozenset[NodeName] = frozenset()
    """Nodes that were removed since the plan was made."""
    tallies: Tallies = field(default_factory=Tallies)
    decisions: Mapping[GateKey, Decision] = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()
    """Hardware classes for which the new release is not to be offered again."""
    superseded_by: str = ""

    @property
    def open_wave(self) -> Wave | None:
        """The wave at work, or the last one that was."""
        return at_work(self.waves)


def at_work(waves: Sequence[Wave]) -> Wave | None:
    """The last wave that is not pending."""
    return next((one for one in reversed(waves) if one.state is not WaveState.PENDING), None)
