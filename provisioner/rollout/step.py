"""One step of a rollout. Pure and level-triggered: it may be asked at any time, and again after a crash."""

from collections.abc import Collection
from datetime import datetime

from provisioner.rollout.advance import advance
from provisioner.rollout.concluding import conclude
from provisioner.rollout.intent import Intent
from provisioner.rollout.observation import Observations
from provisioner.rollout.returning import halt, redirect
from provisioner.rollout.state import Rollout, RolloutState
from provisioner.rollout.stops import look
from provisioner.rollout.taking import take
from provisioner.rollout.unit import UnitName
from provisioner.rollout.waves import tick
from provisioner.rollout.work import Work

_AT_WORK = frozenset({RolloutState.RUNNING, RolloutState.PAUSED, RolloutState.RETURNING, RolloutState.ABORTED})


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
    conclude(work)
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
