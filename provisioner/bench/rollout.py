"""`firstlight bench rollout`: what it costs to plan a rollout of a large site, and to take it one step further."""

import gc
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from statistics import median, quantiles

from provisioner.bench.process import apart, cores, cost_of
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.observation import Facts, Observations
from provisioner.rollout.people import approve, draft, start
from provisioner.rollout.plan import plan
from provisioner.rollout.spec import Floor, Spec
from provisioner.rollout.state import Rollout
from provisioner.rollout.step import step
from provisioner.rollout.unit import Domain, DomainKind, Unit, UnitName

_OLD, _NEW = ReleaseDigest("sha256:old"), ReleaseDigest("sha256:new")
_NODES_PER_LEAF = 32
_SPEC = Spec("bench", "bench", _OLD, _NEW, Floor(percent=90))
_TICK = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class PlanFigures:
    """CPU seconds of one core. `memory_mib`: how far the peak lies above what was there before."""

    nodes: int
    waves: int
    plan_seconds: float
    memory_mib: float


@dataclass(frozen=True, slots=True)
class StepFigures:
    """CPU milliseconds of one core. `first_ms`: the step that sees every node for the first time.

    `collection_ms`: a full collection of garbage over all of it. None runs while a step is measured.
    """

    nodes: int
    steps: int
    intents: int
    most_moved: int
    """Nodes of which one step saw something new, but for the first."""
    median_ms: float
    p99_ms: float
    worst_ms: float
    first_ms: float
    collection_ms: float


@dataclass(frozen=True, slots=True)
class RolloutFigures:
    """Both."""

    plan: PlanFigures
    steps: StepFigures

    def columns(self) -> dict[str, dict[str, float | str | None]]:
        """A table: what is below its name."""
        names = dict.fromkeys([*asdict(self.plan), *asdict(self.steps)])
        plan, steps = ({name: asdict(one).get(name) for name in names} for one in (self.plan, self.steps))
        return {"plan": plan, "steps": steps}


def measure(planned: int, stepped: int) -> RolloutFigures:
    """Nodes of each; every node is a unit of its own, the worst there is. In processes of their own, on one core.

    Raises `BadInput` where so few nodes cannot be planned.
    """
    core = cores()[-1]
    return RolloutFigures(apart(core, _plan, planned), apart(core, _steps, stepped))


def _plan(count: int) -> PlanFigures:
    units = _units(count)
    made, cost = cost_of(plan, _SPEC, units)
    return PlanFigures(count, len(made.waves), round(cost.cpu_seconds, 2), round(cost.memory_mib, 1))


def _steps(count: int) -> StepFigures:
    rollout = start(approve(draft(plan(_SPEC, _units(count))), "bench"))
    nodes = {node: Facts(_OLD, _OLD, "0", "", label=_OLD) for node in rollout.plan.unit_of}
    gc.collect()
    gc.disable()
    taken, moved, intents, rollout = _run(rollout, nodes)
    began = time.thread_time()
    gc.collect()
    collection = time.thread_time() - began
    first, *rest = taken
    figures = (median(rest), quantiles(rest, n=100)[-1], max(rest), first, collection)
    return StepFigures(count, len(taken), intents, max(moved[1:]), *(round(one * 1000, 2) for one in figures))


def _run(rollout: Rollout, nodes: dict[NodeName, Facts]) -> tuple[list[float], list[int], int, Rollout]:
    """To its end, in a world where every node answers at once: all units in hand move in each step.

    Seconds of each step, nodes that it saw something new of, and intents of all.
    """
    now, heard, changed = datetime(2026, 1, 1, tzinfo=UTC), frozenset(nodes), dict(nodes)
    taken: list[float] = []
    moved: list[int] = []
    asked = 0
    while rollout.closed_at is None:
        now += _TICK
        moved.append(len(changed))
        observations = Observations(changed, heard)
        began = time.thread_time()
        rollout, intents = step(rollout, observations, now)
        taken.append(time.thread_time() - began)
        asked += len(intents)
        changed = {node: _after(intent, nodes[node]) for intent in intents for node in intent.nodes}
        nodes |= changed
    return taken, moved, asked, rollout


def _after(intent: Intent, facts: Facts) -> Facts:
    """A node that does what it is asked for."""
    if intent.action is Action.REBOOT:
        return replace(facts, boot_id=f"{int(facts.boot_id) + 1}", digest=facts.active)
    changes: Mapping[Action, Mapping[str, object]] = {
        Action.RESERVE: {"holder": intent.rollout},
        Action.CORDON: {"cordons": frozenset({intent.rollout})},
        Action.FLIP: {"active": intent.release},
        Action.CHECK: {"checked": facts.boot_id},
        Action.LABEL: {"label": intent.release},
        Action.UNCORDON: {"cordons": frozenset(), "holder": None},
    }
    return replace(facts, **changes[intent.action])  # type: ignore[arg-type]  # mypy does not look into the keywords of replace


def _units(count: int) -> list[Unit]:
    return [
        Unit(
            name=UnitName(f"n{number}"),
            nodes=(NodeName(f"n{number}"),),
            hardware_class="bench",
            firmware="",
            release=_OLD,
            domains=frozenset({Domain(DomainKind.LEAF, f"leaf{number // _NODES_PER_LEAF}")}),
        )
        for number in range(count)
    ]
