"""Waves: one after the other, each opened, finished, watched, judged and closed."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from provisioner.models.identifiers import NodeName
from provisioner.rollout.gate import Judgement, Sample, judge
from provisioner.rollout.returning import halt
from provisioner.rollout.spec import Metric
from provisioner.rollout.state import (
    GateKey,
    PausedBy,
    RolloutState,
    UnitState,
    Verdict,
    Wave,
    WaveState,
)
from provisioner.rollout.taking import LATCHED, waits_for
from provisioner.rollout.unit import UnitName
from provisioner.rollout.work import Work

SAMPLES = 500
"""Values of a control group that are enough."""


def tick(work: Work) -> None:
    """Take the open wave as far as it goes now."""
    _use_decision(work)
    if work.state not in {RolloutState.RUNNING, RolloutState.PAUSED} or work.paused_by in LATCHED:
        return
    wave = work.open_wave
    if wave is None:
        _open(work, 0)
    elif wave.state is WaveState.OPEN:
        if _is_finished(work, wave):
            work.waves[wave.number] = replace(wave, state=WaveState.SOAKING)
    elif wave.state is WaveState.SOAKING:
        _soak(work, wave)


def _open(work: Work, number: int) -> None:
    """The last wave also takes what somebody kept from us before."""
    work.waves[number] = replace(work.waves[number], state=WaveState.OPEN, opened_at=work.clock)
    last = number == len(work.waves) - 1
    names = [name for wave in work.plan.waves[: number + 1] for name in wave] if last else work.plan.waves[number]
    work.pending = dict.fromkeys(name for name in names if _is_due(work, name))


def _is_due(work: Work, name: UnitName) -> bool:
    """On the old release, and not because the new one failed on it."""
    task = work.tasks.get(name)
    return task is None or (task.state is UnitState.ON_OLD and not task.returned)


def _is_finished(work: Work, wave: Wave) -> bool:
    """Nothing is left, or only what waits for somebody: then it is left for the last wave."""
    if work.in_hand:
        return False
    if not work.pending:
        return True
    moved = any(work.state_of(name) is UnitState.ON_NEW for name in work.plan.waves[wave.number])
    last = wave.number == len(work.waves) - 1
    if last or not moved or not all(waits_for(work, name) for name in work.pending):
        return False
    work.pending = {}
    return True


def _soak(work: Work, wave: Wave) -> None:
    tasks = work.tasks
    taken = [name for name in work.plan.waves[wave.number] if name in tasks]
    names = [name for name in taken if tasks[name].state is UnitState.ON_NEW]
    up = sum([work.up[name] for name in names])
    hours = work.elapsed.total_seconds() / 3600
    wave = replace(wave, soaked=wave.soaked + work.elapsed, node_hours=wave.node_hours + up * hours)
    work.waves[wave.number] = wave
    twice = 2 if work.spec.irreversible else 1
    if names and (wave.soaked < work.spec.soak.time * twice or wave.node_hours < work.spec.soak.node_hours * twice):
        return
    _judge(work, wave, names)


def _judge(work: Work, wave: Wave, names: list[UnitName]) -> None:
    judgement = judge(work.trials, work.control, tuple(_samples(work, names)))
    missed = not names and any(_should_run(work, name) for name in work.plan.waves[wave.number])
    if judgement.verdict is Verdict.PASS and missed:
        text = f"nothing of wave {wave.number} runs the new release"
        judgement = Judgement(Verdict.INCONCLUSIVE, (text,))
    why = "; ".join(judgement.findings)
    if judgement.verdict is Verdict.FAIL:
        halt(work, why)
    elif judgement.verdict is Verdict.INCONCLUSIVE:
        work.waves[wave.number] = replace(wave, state=WaveState.JUDGED, verdict=Verdict.INCONCLUSIVE, why=why)
        work.state, work.paused_by, work.why = RolloutState.PAUSED, PausedBy.GATE, why
    else:
        _close(work, replace(wave, verdict=Verdict.PASS))


def _should_run(work: Work, name: UnitName) -> bool:
    """Neither gone nor broken before."""
    task = work.tasks.get(name)
    return task is None or not (task.was_broken or task.state is UnitState.REMOVED)


def _close(work: Work, wave: Wave) -> None:
    work.waves[wave.number] = replace(wave, state=WaveState.CLOSED)
    work.state, work.paused_by, work.why = RolloutState.RUNNING, None, ""
    if wave.number + 1 < len(work.waves):
        _open(work, wave.number + 1)
    else:
        work.state, work.closed_at = RolloutState.COMPLETE, work.now


def _use_decision(work: Work) -> None:
    """Once: the next gate is another one (argoproj/argo-rollouts#3015, #1203)."""
    wave = work.open_wave
    if wave is None or wave.verdict is not Verdict.INCONCLUSIVE or wave.state is not WaveState.JUDGED:
        return
    key = GateKey(work.generation, wave.number)
    decision = work.decisions.get(key)
    if decision is None or decision.used or work.paused_by is not PausedBy.GATE:
        return
    work.decisions[key] = replace(decision, used=True)
    why = f"{decision.who} decided {decision.verdict}: {decision.why}"
    if decision.verdict is Verdict.PASS:
        _close(work, replace(wave, why=why))
    else:
        halt(work, why)


def _samples(work: Work, names: list[UnitName]) -> Iterator[Sample]:
    if not work.spec.metrics:
        return
    green: dict[str, list[NodeName]] = defaultdict(list)
    for name in names:
        green[work.plan.units[name].hardware_class] += work.nodes_of(name)
    control = _control(work)
    for hardware_class, nodes in green.items():
        for metric in work.spec.metrics:
            values = _values(work, nodes, metric)
            beside = _values(work, control[hardware_class], metric)
            yield Sample(hardware_class, metric, values, beside, missing=len(nodes) - len(values))


def _control(work: Work) -> dict[str, list[NodeName]]:
    """Nodes of units that were never taken: at most `SAMPLES` of each hardware class."""
    control: dict[str, list[NodeName]] = defaultdict(list)
    for name, unit in work.plan.units.items():
        chosen = control[unit.hardware_class]
        if name not in work.tasks and name not in work.plan.excluded and len(chosen) < SAMPLES:
            chosen += work.nodes_of(name)
    return control


def _values(work: Work, nodes: list[NodeName], metric: Metric) -> tuple[float, ...]:
    seen = (work.facts[node] for node in nodes if node in work.facts)
    values = (one.boot_seconds if metric is Metric.BOOT_SECONDS else one.bandwidth for one in seen)
    return tuple(value for value in values if value is not None)
