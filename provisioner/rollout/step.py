"""One step of a rollout. Pure and level-triggered: it may be asked at any time, and again after a crash."""

from collections.abc import Collection
from datetime import datetime

from provisioner.rollout.advance import advance
from provisioner.rollout.intent import Intent
from provisioner.rollout.observation import Observations
from provisioner.rollout.returning import halt, redirect
from provisioner.rollout.state import PausedBy, Rollout, RolloutState, UnitState
from provisioner.rollout.stops import look
from provisioner.rollout.taking import LATCHED, take, waits_for
from provisioner.rollout.unit import UnitName
from provisioner.rollout.waves import tick
from provisioner.rollout.windows import fits
from provisioner.rollout.work import Work

_AT_WORK = frozenset({RolloutState.RUNNING, RolloutState.PAUSED, RolloutState.RETURNING, RolloutState.ABORTED})
_GOES_ON = frozenset({RolloutState.RUNNING, RolloutState.PAUSED})


def step(rollout: Rollout, observations: Observations, now: datetime) -> tuple[Rollout, tuple[Intent, ...]]:
    """What was seen, and what is to be done about it.

    Keep both in one piece, and only if nobody with a higher epoch has; only then carry the intents out.
    """
    work = Work(rollout, now)
    touched = work.absorb(observations)
    if work.state not in _AT_WORK or work.closed_at is not None:
        return work.done()
    look(work, touched, observations.budgets_spent)
    _stop_where_needed(work)
    for name in _due(work, touched):
        advance(work, name)
    _stop_where_needed(work)
    redirect(work)
    tick(work)
    redirect(work)
    take(work)
    _stop_where_needed(work)
    _conclude(work)
    return work.done()


def _due(work: Work, touched: Collection[UnitName]) -> list[UnitName]:
    """Units in hand that something was seen of, or whose time is up."""
    clock, tasks = work.clock, work.tasks
    return [name for name in work.in_hand if name in touched or tasks[name].deadline <= clock]


def _stop_where_needed(work: Work) -> None:
    while work.stops:
        why = "; ".join(dict.fromkeys(work.stops))
        work.stops = []
        halt(work, why)
        redirect(work)


def _conclude(work: Work) -> None:
    """Say where the rollout is: ended, or paused by what it waits for, or running."""
    if work.state is RolloutState.ABORTED and not work.in_hand:
        work.closed_at = work.now
    elif work.state is RolloutState.RETURNING:
        _conclude_return(work)
    elif work.state in _GOES_ON and work.paused_by not in LATCHED:
        work.paused_by, work.why = _waiting(work)
        work.state = RolloutState.PAUSED if work.paused_by else RolloutState.RUNNING


def _conclude_return(work: Work) -> None:
    if work.in_hand or work.pending:
        return
    stuck = sorted(name for name, task in work.tasks.items() if task.state is UnitState.QUARANTINED)
    work.state = RolloutState.NEEDS_HUMAN if stuck else RolloutState.RETURNED
    work.closed_at = work.now
    if stuck:
        work.why = f"{work.why}; in quarantine: {', '.join(stuck)}"


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
