"""Where a rollout is after a step: ended, or waiting for something that is named, or at work."""

from collections import Counter
from collections.abc import Collection, Iterator

from provisioner.models.identifiers import NodeName
from provisioner.rollout.state import IN_SERVICE, PausedBy, RolloutState, UnitState
from provisioner.rollout.taking import LATCHED, waits_for
from provisioner.rollout.unit import UnitName
from provisioner.rollout.windows import fits
from provisioner.rollout.work import Work

_GOES_ON = frozenset({RolloutState.RUNNING, RolloutState.PAUSED})
_HELD_UP = "; the return waits: "
_NAMED = 10
"""Nodes that a message names."""


def conclude(work: Work) -> None:
    """Say where the rollout is. Nothing waits in silence: `why` names what for."""
    if work.state is RolloutState.ABORTED and not work.in_hand:
        work.closed_at = work.now
    elif work.state is RolloutState.RETURNING:
        _conclude_return(work)
    elif work.state in _GOES_ON and work.paused_by not in LATCHED:
        work.paused_by, work.why = _waiting(work)
        work.state = RolloutState.PAUSED if work.paused_by else RolloutState.RUNNING


def _conclude_return(work: Work) -> None:
    """Units that may not go back yet keep the floor: whoever is out of service is named.

    Where only quarantine keeps them, nothing goes on by itself: it ends, so that repaired nodes are given back to the
    scheduler, and a person returns it once more.
    """
    work.paused_by, why = None, work.why.partition(_HELD_UP)[0]
    work.why = why
    if work.in_hand:
        return
    stuck = _in_quarantine(work)
    if work.pending and not _never_goes_on(work):
        work.paused_by, reason = _held_up(work)
        work.why = f"{why}{_HELD_UP}{reason}"
        return
    work.state = RolloutState.NEEDS_HUMAN if stuck or work.pending else RolloutState.RETURNED
    work.closed_at = work.now
    if work.pending:
        work.why += f"; {_short_of_room(work)}: put them right, then return it again"
    if stuck:
        work.why += f"; in quarantine: {_names(stuck)}"


def _in_quarantine(work: Work) -> list[NodeName]:
    """Nodes of units that were to go back, and on which neither release works."""
    found: list[NodeName] = []
    for name, task in work.tasks.items():
        if task.state is UnitState.QUARANTINED:
            found += work.nodes_of(name)
        elif task.state is UnitState.ON_OLD:
            found += task.quarantined - work.gone
    return sorted(found)


def _never_goes_on(work: Work) -> bool:
    """Not even if all nodes served that are not kept out by us."""
    out: Counter[str] = Counter()
    for task in work.tasks.values():
        kept_out = work.nodes_of(task.unit) if task.state is UnitState.QUARANTINED else task.quarantined - work.gone
        out[_class(work, task.unit)] += len(kept_out)
    room = {one: work.spec.floor.may_be_out(total) - out[one] for one, total in work.nodes.items()}
    return all(
        len(work.members_of(work.tasks[name])) > room[_class(work, name)] and not waits_for(work, name)
        for name in work.pending
    )


def _held_up(work: Work) -> tuple[PausedBy, str]:
    """The first reason that somebody can do something about; else the floor."""
    reasons = [reason for name in work.pending if (reason := waits_for(work, name))]
    if len(reasons) == len(work.pending):
        return PausedBy.BLOCKED, reasons[0]
    return PausedBy.FLOOR, _short_of_room(work)


def _short_of_room(work: Work) -> str:
    return "; ".join(_short_of_room_in(work, one) for one in sorted({_class(work, name) for name in work.pending}))


def _short_of_room_in(work: Work, hardware_class: str) -> str:
    left = [name for name in work.pending if _class(work, name) == hardware_class]
    total, serve = work.nodes[hardware_class], work.in_service[hardware_class]
    smallest = min(work.up[name] for name in left)
    return (
        f"{len(left)} units of {hardware_class} still run the new release, and none may leave service: "
        f"{serve} of {total} nodes serve, the floor is {total - work.spec.floor.may_be_out(total)}, "
        f"and the smallest unit has {smallest} that do; out of service are {_names(sorted(_out(work, hardware_class)))}"
    )


def _out(work: Work, hardware_class: str) -> Iterator[NodeName]:
    for name, unit in work.plan.units.items():
        if unit.hardware_class != hardware_class:
            continue
        serves = work.state_of(name) in IN_SERVICE
        for node in work.nodes_of(name):
            if not serves or node not in work.facts or not work.facts[node].available:
                yield node


def _class(work: Work, name: UnitName) -> str:
    return work.plan.units[name].hardware_class


def _names(nodes: Collection[NodeName]) -> str:
    named = ", ".join(list(nodes)[:_NAMED])
    return f"{named} and {len(nodes) - _NAMED} more" if len(nodes) > _NAMED else named or "none"


def _waiting(work: Work) -> tuple[PausedBy | None, str]:
    repairing = any(work.tasks[name].was_broken for name in work.in_hand)
    if not repairing and (short := sorted(work.broken_floors())):
        return PausedBy.FLOOR, f"less than the floor is in service of {', '.join(short)}"
    if work.pending and not fits(work.spec.windows, work.now, work.spec.worst_case()):
        return PausedBy.WINDOW, "no window is open for as long as a unit may take"
    if work.pending and not work.in_hand:
        reasons = (reason for name in work.pending if (reason := waits_for(work, name)))
        return PausedBy.BLOCKED, next(reasons, "no unit may leave service without breaking the floor")
    return None, ""
