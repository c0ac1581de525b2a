"""What happened in a step, in words, for the rollout's history. Pure."""

from collections.abc import Iterator

from provisioner.rollout.state import (
    AT_REST,
    Heading,
    Rollout,
    RolloutState,
    UnitState,
    UnitTask,
    Verdict,
    Wave,
    WaveState,
)


def told(before: Rollout, after: Rollout) -> Iterator[str]:
    """One line for each change that a person would want to know of, in the order in which they came."""
    for name, task in after.tasks.items():
        old = before.tasks.get(name)
        if old is not task:
            yield from _of_unit(old, task)
    for old_wave, wave in zip(before.waves, after.waves, strict=True):
        if old_wave.state is not wave.state:
            yield from _of_wave(after, wave)
    if (before.state, before.paused_by) != (after.state, after.paused_by):
        held_up = after.state is RolloutState.RETURNING
        by = f"{', held up' * held_up} by {after.paused_by}" if after.paused_by else ""
        yield f"{after.state.value.replace('_', ' ')}{by}" + (f": {after.why}" if after.why else "")
    for hardware_class in sorted(after.rejected - before.rejected):
        yield f"the release is rejected for {hardware_class}"


def _of_unit(old: UnitTask | None, task: UnitTask) -> Iterator[str]:
    state = UnitState.ON_OLD if old is None else old.state
    if state in AT_REST and task.state not in AT_REST:
        where = "back to the old release" if task.heading is Heading.TO_OLD else f"wave {task.wave}"
        yield f"{task.unit}: taken, {where}"
    if old is not None and old.heading is not task.heading and task.heading is not Heading.TO_NEW:
        turned = "put back into service unchanged" if task.heading is Heading.CANCELLED else "goes back"
        yield f"{task.unit}: {turned}" + (f": {task.why}" if task.why else "")
    if old is not None and task.attempt > old.attempt and task.state is old.state:
        yield f"{task.unit}: {task.state} is tried again ({task.attempt}): {task.why}"
    if state not in AT_REST and task.state in AT_REST:
        yield f"{task.unit}: {_ENDS.get(task.state, task.state.value)}" + (f": {task.why}" if task.why else "")


_ENDS = {
    UnitState.ON_NEW: "runs the new release",
    UnitState.ON_OLD: "runs the old release",
    UnitState.QUARANTINED: "in quarantine",
    UnitState.REMOVED: "gone",
}


def _of_wave(after: Rollout, wave: Wave) -> Iterator[str]:
    count = len(after.plan.waves[wave.number])
    if wave.state is WaveState.OPEN:
        yield f"wave {wave.number} opens: {count} unit{'s' * (count != 1)}"
    elif wave.state is WaveState.SOAKING:
        yield f"wave {wave.number} is watched"
    elif wave.state is WaveState.JUDGED and wave.verdict is not None:
        yield f"wave {wave.number}: {wave.verdict}" + (f": {wave.why}" if wave.why else "")
    elif wave.state is WaveState.CLOSED:
        yield f"wave {wave.number} is closed: {wave.verdict or Verdict.PASS}"
