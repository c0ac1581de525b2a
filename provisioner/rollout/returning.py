"""Stop, and go back: what a failed gate and a person do to a rollout at work."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from provisioner.rollout.advance import advance, cancel, may_return, turn_back
from provisioner.rollout.spec import ReturnScope, Spec
from provisioner.rollout.state import (
    UNCHANGED,
    Heading,
    PausedBy,
    RolloutState,
    UnitState,
    UnitTask,
    Verdict,
    WaveState,
)
from provisioner.rollout.unit import UnitName
from provisioner.rollout.work import Work


def halt(work: Work, why: str) -> None:
    """The open wave has failed. Pause always; go back by ourselves where that was asked for."""
    if work.state not in {RolloutState.RUNNING, RolloutState.PAUSED}:
        return
    wave = work.open_wave
    first = 0
    if wave is not None:
        judged = replace(wave, state=WaveState.JUDGED, verdict=Verdict.FAIL, why=why)
        work.waves[wave.number] = judged
        first = wave.number
    work.state, work.paused_by, work.why = RolloutState.PAUSED, PausedBy.GATE, why
    if work.spec.auto_return:
        _start_return(work, 0 if work.spec.return_scope is ReturnScope.ALL else first)


def _start_return(work: Work, first_wave: int) -> None:
    work.state, work.paused_by = RolloutState.RETURNING, None
    work.generation += 1
    work.return_from_wave = first_wave
    work.pending = dict.fromkeys(to_return(work.spec, work.tasks, first_wave))
    work.rejected |= {work.plan.units[name].hardware_class for name in work.tasks}


def to_return(spec: Spec, tasks: Mapping[UnitName, UnitTask], first_wave: int) -> Iterator[UnitName]:
    """Units on the new release that go back."""
    for name, task in tasks.items():
        if task.state is UnitState.ON_NEW and task.wave >= first_wave and may_return(spec, task):
            yield name


def redirect(work: Work) -> None:
    """Turn units in hand that may no longer go where they are heading. Asked at every step: it does so once."""
    stopped = work.paused_by is PausedBy.GATE or work.superseded
    returning = work.state is RolloutState.RETURNING
    if not returning and not stopped:
        return
    for name in tuple(work.in_hand):
        task = work.tasks[name]
        if task.heading is not Heading.TO_NEW:
            continue
        if task.state in UNCHANGED:
            cancel(work, task, "the rollout does not go on", deferred=False)
            advance(work, name, fresh=True)
        elif (
            work.state is RolloutState.RETURNING and task.wave >= work.return_from_wave and may_return(work.spec, task)
        ):
            turn_back(work, task, work.why)
            advance(work, name, fresh=True)
