"""How far an update has come, as the journal keeps it. Pure.

A phase is written before what it names is done: `uploaded` before the package is sent, `activating` before a reset is
asked for. Whoever finds a row after a crash knows what may have happened, and looks at the device for what has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from profiles.firmware.component import Activation
from provisioner.errors import Conflict
from provisioner.models.identifiers import NodeName, TaskUri


class Phase(StrEnum):
    """Of one component class on one node."""

    PLANNED = "planned"
    PREFLIGHT = "preflight"
    """What must hold before anything is sent is being looked at."""
    UPLOADED = "uploaded"
    """The package is on its way, or there: sent at most once."""
    STAGED = "staged"
    """The device holds the new version; its activation is still to come."""
    ACTIVATING = "activating"
    VERIFYING = "verifying"
    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """Nobody can tell what became of it. Only a look at the device ends this."""


MOVES: Mapping[Phase, frozenset[Phase]] = {
    Phase.PLANNED: frozenset({Phase.PREFLIGHT, Phase.DONE}),
    Phase.PREFLIGHT: frozenset({Phase.UPLOADED, Phase.DONE, Phase.FAILED}),
    Phase.UPLOADED: frozenset({Phase.PREFLIGHT, Phase.STAGED, Phase.FAILED, Phase.UNKNOWN}),
    Phase.STAGED: frozenset({Phase.ACTIVATING, Phase.VERIFYING}),
    Phase.ACTIVATING: frozenset({Phase.VERIFYING}),
    Phase.VERIFYING: frozenset({Phase.ACTIVATING, Phase.DONE, Phase.FAILED, Phase.UNKNOWN}),
    Phase.UNKNOWN: frozenset({Phase.STAGED, Phase.DONE, Phase.FAILED}),
    Phase.DONE: frozenset(),
    Phase.FAILED: frozenset(),
}
"""From each phase to the ones that may follow. `uploaded` goes back only where the BMC has said that nothing began;
`verifying` where a part is seen to run the old version, and a stronger cycle is left."""

FINISHED = frozenset({Phase.DONE, Phase.FAILED})
SENT = frozenset({Phase.UPLOADED, Phase.STAGED, Phase.ACTIVATING, Phase.VERIFYING, Phase.UNKNOWN})
"""Begun and not finished: the device may hold it, and nothing is sent again."""
IN_FLIGHT = frozenset({Phase.UPLOADED, Phase.UNKNOWN})
"""It may be flashing at this moment."""


@dataclass(frozen=True, slots=True)
class Change:
    """One move. `seen`: the device or its BMC said so, in the words of `reason`."""

    phase: Phase
    at: datetime
    reason: str = ""
    seen: bool = False


def may_move(origin: Phase, change: Change) -> bool:
    """The table allows it, and it is not a guess: nothing leaves `unknown`, goes back or is done without a reading."""
    back = (origin, change.phase) in {(Phase.UPLOADED, Phase.PREFLIGHT), (Phase.VERIFYING, Phase.ACTIVATING)}
    by_reading = origin is Phase.UNKNOWN or change.phase is Phase.DONE or back
    return change.phase in MOVES[origin] and (change.seen or not by_reading)


@dataclass(frozen=True, slots=True)
class Planned:
    """What is going to be flashed. `part`: one inventory id, where a BMC takes one target after the other."""

    component: str
    version: str
    digest: str
    activation: Activation
    part: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the journal: one try to bring a component class of a node to a version."""

    number: int
    node: NodeName
    what: Planned
    attempt: int
    """1 for the first try with this version; one more after each that failed."""
    phase: Phase
    task: TaskUri | None
    live_until: datetime | None
    """While nobody sees a task of it, it may still be flashing until then."""
    tasks_before: tuple[str, ...]
    """The tasks that the BMC listed before it was sent: one that is not among them may be its own."""
    changes: tuple[Change, ...]

    @property
    def reason(self) -> str:
        """Of the last change."""
        return self.changes[-1].reason if self.changes else ""

    @property
    def begun_at(self) -> datetime:
        """When it was planned."""
        return self.changes[0].at

    @property
    def activations(self) -> tuple[Change, ...]:
        """What was done to activate it: as planned, then harder."""
        return tuple(one for one in self.changes if one.phase is Phase.ACTIVATING)

    @property
    def name(self) -> str:
        """For people: the class, and the part if it is about one."""
        return f"{self.what.component} ({self.what.part})" if self.what.part else self.what.component


def moved(entry: Entry, change: Change) -> Entry:
    """The entry after a change. Raises `Conflict` for a move that the table does not allow."""
    if not may_move(entry.phase, change):
        how = "" if change.seen else " without a look at the device"
        raise Conflict(
            f"{entry.node}: {entry.name} {entry.what.version} goes from {entry.phase} to {change.phase}{how}"
        )
    return replace(entry, phase=change.phase, changes=(*entry.changes, change))


def may_be_flashing(entries: Sequence[Entry], now: datetime) -> tuple[Entry, ...]:
    """Those that may be at work although the BMC lists no task of theirs: no reset until their time is over."""
    return tuple(
        entry
        for entry in entries
        if entry.phase in IN_FLIGHT and entry.live_until is not None and now < entry.live_until
    )
