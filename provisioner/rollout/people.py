"""What people and controllers may do to a rollout. Pure; done twice is as done once; what cannot be is a `Conflict`."""

from dataclasses import replace
from datetime import datetime

from provisioner.errors import Conflict
from provisioner.rollout.plan import Plan
from provisioner.rollout.returning import to_return
from provisioner.rollout.spec import ReturnScope
from provisioner.rollout.state import (
    Decision,
    GateKey,
    PausedBy,
    Rollout,
    RolloutState,
    Verdict,
    Wave,
    WaveState,
)
from provisioner.rollout.tallies import first_tallies

_BEFORE = frozenset({RolloutState.DRAFT, RolloutState.PLANNED, RolloutState.APPROVED})
_AT_WORK = frozenset({RolloutState.RUNNING, RolloutState.PAUSED})
_MAY_RETURN = _AT_WORK | {
    RolloutState.COMPLETE,
    RolloutState.ABORTED,
    RolloutState.RETURNED,
    RolloutState.NEEDS_HUMAN,
}


def draft(plan: Plan) -> Rollout:
    """A rollout that nothing was done for yet."""
    waves = tuple(Wave(number) for number in range(len(plan.waves)))
    return Rollout(plan=plan, state=RolloutState.PLANNED, waves=waves, tallies=first_tallies(plan))


def approve(rollout: Rollout, who: str) -> Rollout:
    """Somebody answers for it. Raises `Conflict` once it has been started."""
    if rollout.approved_by:
        return rollout
    _need(rollout, rollout.state is RolloutState.PLANNED, "approved")
    return replace(rollout, state=RolloutState.APPROVED, approved_by=who)


def approve_irreversible(rollout: Rollout, who: str) -> Rollout:
    """Somebody answers for firmware that cannot go back; another person than the one who approved the rollout."""
    if rollout.irreversible_approved_by:
        return rollout
    if who == rollout.approved_by:
        raise Conflict(f"{_name(rollout)}: {who} has approved it: another person approves irreversible firmware")
    _need(rollout, rollout.state in _BEFORE, "approved")
    return replace(rollout, irreversible_approved_by=who)


def start(rollout: Rollout) -> Rollout:
    """Go. Raises `Conflict` without every approval that it needs."""
    if rollout.state not in _BEFORE:
        return rollout
    _need(rollout, rollout.state is RolloutState.APPROVED, "started", "approve it first")
    if rollout.plan.spec.irreversible and not rollout.irreversible_approved_by:
        raise Conflict(f"{_name(rollout)}: its firmware cannot go back: have that approved first")
    return replace(rollout, state=RolloutState.RUNNING)


def pause(rollout: Rollout, who: str) -> Rollout:
    """Take no further unit; what is in hand goes on. One that a gate has paused stays so."""
    if rollout.paused_by in {PausedBy.PERSON, PausedBy.GATE}:
        return rollout
    _need(rollout, rollout.state in _AT_WORK, "paused", "abort freezes it")
    return replace(rollout, state=RolloutState.PAUSED, paused_by=PausedBy.PERSON, why=f"paused by {who}")


def resume(rollout: Rollout) -> Rollout:
    """End a person's pause. A gate's is ended by a decision, or by going back."""
    if rollout.paused_by is PausedBy.GATE:
        raise Conflict(f"{_name(rollout)}: a gate has paused it ({rollout.why}): decide about the gate, or return it")
    _need(rollout, rollout.state in _AT_WORK, "resumed")
    if rollout.paused_by is not PausedBy.PERSON:
        return rollout
    return replace(rollout, state=RolloutState.RUNNING, paused_by=None, why="")


def abort(rollout: Rollout, who: str, now: datetime) -> Rollout:
    """Freeze: units in hand finish, none is taken, nothing moves back. Nothing where all has ended already."""
    if rollout.closed_at is not None or rollout.state is RolloutState.ABORTED:
        return rollout
    return replace(
        rollout,
        state=RolloutState.ABORTED,
        paused_by=None,
        why=f"aborted by {who}",
        tallies=replace(rollout.tallies, pending={}),
        closed_at=None if rollout.tallies.in_hand else now,
    )


def supersede(rollout: Rollout, successor: str, now: datetime) -> Rollout:
    """Make way for another rollout: what is unchanged goes back into service, the rest of what is in hand finishes."""
    if rollout.superseded_by not in {"", successor}:
        raise Conflict(f"{_name(rollout)}: {rollout.superseded_by} supersedes it already")
    return replace(abort(rollout, successor, now), superseded_by=successor)


def send_back(rollout: Rollout, who: str, now: datetime, scope: ReturnScope = ReturnScope.WAVE) -> Rollout:
    """Take units back to the old release, without soak or statistics. `Conflict` where that is no longer pinned."""
    wave = rollout.open_wave
    first = 0 if scope is ReturnScope.ALL or wave is None else wave.number
    if rollout.state is RolloutState.RETURNING and first >= rollout.return_from_wave:
        return rollout
    _need(rollout, rollout.state in _MAY_RETURN | {RolloutState.RETURNING}, "returned")
    if rollout.closed_at is not None and now >= rollout.closed_at + rollout.plan.spec.retention:
        raise Conflict(f"{_name(rollout)}: the old release is no longer kept: roll it out anew")
    return replace(
        rollout,
        state=RolloutState.RETURNING,
        paused_by=None,
        why=f"returned by {who}",
        generation=rollout.generation + 1,
        return_from_wave=first,
        closed_at=None,
        tallies=replace(rollout.tallies, pending=dict.fromkeys(to_return(rollout.plan.spec, rollout.tasks, first))),
        rejected=rollout.rejected | {rollout.plan.units[name].hardware_class for name in rollout.tasks},
    )


def decide(rollout: Rollout, key: GateKey, verdict: Verdict, who: str, why: str) -> Rollout:
    """Decide one inconclusive gate: recorded once, and the next step uses it once."""
    known = rollout.decisions.get(key)
    if known is not None and (known.verdict, known.who) == (verdict, who):
        return rollout
    if known is not None:
        raise Conflict(f"{_name(rollout)}: {known.who} has decided gate {key.wave} already: {known.verdict}")
    wave = rollout.open_wave
    current = wave is not None and key == GateKey(rollout.generation, wave.number)
    if wave is None or not current or wave.state is not WaveState.JUDGED or wave.verdict is not Verdict.INCONCLUSIVE:
        raise Conflict(f"{_name(rollout)}: gate {key.wave} is not waiting for a decision: read it again")
    if verdict is Verdict.INCONCLUSIVE:
        raise Conflict(f"{_name(rollout)}: inconclusive is what it is: decide pass or fail")
    return replace(rollout, decisions={**rollout.decisions, key: Decision(key, verdict, who, why)})


def _need(rollout: Rollout, allowed: bool, what: str, instead: str = "start another one") -> None:  # noqa: FBT001  # a condition, not a switch
    if not allowed:
        raise Conflict(f"{_name(rollout)} is {rollout.state}: it cannot be {what}; {instead}")


def _name(rollout: Rollout) -> str:
    return rollout.plan.spec.name
