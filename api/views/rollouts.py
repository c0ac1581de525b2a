"""Rollouts as the API shows them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel, Field

from provisioner.models.turn import Rejected
from provisioner.rollout.kept import Glance, Kept, Line
from provisioner.rollout.plan import Plan
from provisioner.rollout.state import AT_REST, Heading, Rollout, UnitState, UnitTask, Wave

_SHOWN = 200
"""Lines of the history, and units in hand, in one answer."""


class RolloutView(BaseModel):
    """One rollout in one line. `why`: it is not running, or goes back."""

    name: str
    pool: str
    release: str
    state: str
    why: str
    who: str
    created_at: datetime
    closed_at: datetime | None

    @classmethod
    def of(cls, one: Glance) -> Self:
        """The view."""
        return cls(
            name=one.name,
            pool=one.pool,
            release=one.release,
            state=one.state,
            why=one.why,
            who=one.who,
            created_at=one.created_at,
            closed_at=one.closed_at,
        )


class RolloutPage(BaseModel):
    """Newest first. `next` is the cursor of the page after this one; null on the last."""

    rollouts: list[RolloutView]
    next: str | None


class WaveView(BaseModel):
    """One wave as it went."""

    number: int
    state: str
    units: int
    failed_units: int
    soaked_seconds: float
    node_hours: float
    verdict: str | None
    why: str
    sees_defect_from: float

    @classmethod
    def of(cls, plan: Plan, wave: Wave) -> Self:
        """The view."""
        return cls(
            number=wave.number,
            state=wave.state,
            units=len(plan.waves[wave.number]),
            failed_units=wave.failed_units,
            soaked_seconds=wave.soaked.total_seconds(),
            node_hours=wave.node_hours,
            verdict=wave.verdict,
            why=wave.why,
            sees_defect_from=plan.sights[wave.number].defect,
        )


class UnitView(BaseModel):
    """One unit that was taken. `heading`: to_new, to_old, or cancelled."""

    unit: str
    wave: int
    state: str
    heading: str
    attempt: int
    nodes: list[str]
    quarantined: list[str]
    failed: bool
    returned: bool
    why: str

    @classmethod
    def of(cls, plan: Plan, task: UnitTask) -> Self:
        """The view."""
        return cls(
            unit=task.unit,
            wave=task.wave,
            state=task.state,
            heading=task.heading,
            attempt=task.attempt,
            nodes=list(plan.units[task.unit].nodes),
            quarantined=sorted(task.quarantined),
            failed=task.failed,
            returned=task.returned,
            why=task.why,
        )


class FloorView(BaseModel):
    """One hardware class of the pool."""

    nodes: int
    in_service: int | None = Field(description="null: it has not been started, and nobody has looked")
    floor: int


class TrialsView(BaseModel):
    """Nodes tried, and those of them that failed."""

    nodes: int
    failed: int


class LineView(BaseModel):
    """One line of the history."""

    at: datetime
    what: str


class RolloutDetail(BaseModel):
    """Everything about one. `next`: what a person does now, where anybody has to."""

    name: str
    pool: str
    from_release: str
    release: str
    state: str
    paused_by: str | None
    why: str
    next: str
    who: str
    approved_by: str
    irreversible: bool
    irreversible_approved_by: str
    superseded_by: str
    created_at: datetime
    closed_at: datetime | None
    generation: int
    floors: dict[str, FloorView]
    counts: dict[str, int] = Field(description="units by their state, those that were never taken as on_old")
    waves: list[WaveView]
    in_hand: list[UnitView] = Field(description=f"at most {_SHOWN}")
    trials: dict[str, TrialsView] = Field(description="of the new release, by hardware class")
    control: dict[str, TrialsView] = Field(description="of units that were never taken, by hardware class")
    rejected: list[str]
    history: list[LineView] = Field(description=f"the last {_SHOWN}, oldest first")

    @classmethod
    def assemble(cls, kept: Kept, history: Sequence[Line]) -> Self:
        """The view."""
        rollout = kept.rollout
        plan, spec = rollout.plan, rollout.plan.spec
        in_hand = (task for task in rollout.tasks.values() if task.state not in AT_REST)
        return cls(
            name=spec.name,
            pool=spec.pool,
            from_release=spec.from_release,
            release=spec.to_release,
            state=rollout.state,
            paused_by=rollout.paused_by,
            why=rollout.why,
            next=next_step(rollout),
            who=kept.who,
            approved_by=rollout.approved_by,
            irreversible=spec.irreversible,
            irreversible_approved_by=rollout.irreversible_approved_by,
            superseded_by=rollout.superseded_by,
            created_at=kept.created_at,
            closed_at=rollout.closed_at,
            generation=rollout.generation,
            floors=_floors(rollout),
            counts=_counts(rollout),
            waves=[WaveView.of(plan, wave) for wave in rollout.waves],
            in_hand=[UnitView.of(plan, task) for task, _ in zip(in_hand, range(_SHOWN), strict=False)],
            trials=_trials(rollout.tallies.trials),
            control=_trials(rollout.tallies.control),
            rejected=sorted(rollout.rejected),
            history=[LineView(at=line.at, what=line.what) for line in history[-_SHOWN:]],
        )


class UnitPage(BaseModel):
    """Units in the order of the plan. `next` is the cursor of the page after this one; null on the last."""

    units: list[UnitView]
    next: str | None


class RejectedView(BaseModel):
    """A release that came back from a hardware class."""

    release: str
    hardware_class: str
    rollout: str
    why: str
    at: datetime

    @classmethod
    def of(cls, one: Rejected) -> Self:
        """The view."""
        return cls(release=one.release, hardware_class=one.hardware_class, rollout=one.rollout, why=one.why, at=one.at)


class RejectedList(BaseModel):
    """Newest first."""

    rejected: list[RejectedView]


def next_step(rollout: Rollout) -> str:
    """For people: the one command that is waited for; empty where Firstlight goes on by itself."""
    name = rollout.plan.spec.name
    if rollout.state == "planned":
        return f"read the plan, then: firstlight rollout approve {name}"
    if rollout.state == "approved" and rollout.plan.spec.irreversible and not rollout.irreversible_approved_by:
        return f"another person: firstlight rollout approve {name} --irreversible"
    if rollout.state == "approved":
        return f"firstlight rollout start {name}"
    if rollout.paused_by == "person":
        return f"firstlight rollout resume {name}"
    if rollout.paused_by == "gate":
        wave = rollout.open_wave
        number = wave.number if wave else 0
        return f"look at why, then: firstlight rollout decide {name} --wave {number} --verdict pass|fail --why ..."
    if rollout.state == "returning" and rollout.paused_by:
        return "put right what holds the return up, as why says: firstlight node list --held"
    if rollout.state == "needs_human":
        return "look at the nodes in quarantine: each says what to do (firstlight why NODE)"
    return ""


def in_plan_order(rollout: Rollout) -> Iterator[UnitTask]:
    """Every unit of the waves; one that was never taken is on the old release."""
    for number, wave in enumerate(rollout.plan.waves):
        for name in wave:
            yield rollout.tasks.get(name) or UnitTask(name, number, UnitState.ON_OLD, Heading.TO_NEW)


def _floors(rollout: Rollout) -> dict[str, FloorView]:
    tallies, floor = rollout.tallies, rollout.plan.spec.floor
    return {
        name: FloorView(
            nodes=total,
            in_service=None if rollout.stepped_at is None else tallies.in_service[name],
            floor=total - floor.may_be_out(total),
        )
        for name, total in tallies.nodes.items()
    }


def _counts(rollout: Rollout) -> dict[str, int]:
    planned = sum(len(wave) for wave in rollout.plan.waves)
    counts = Counter(task.state.value for task in rollout.tasks.values())
    counts[UnitState.ON_OLD.value] += planned - len(rollout.tasks)
    return {name: count for name, count in sorted(counts.items()) if count}


def _trials(trials: Mapping[str, object]) -> dict[str, TrialsView]:
    return {name: TrialsView.model_validate(one, from_attributes=True) for name, one in trials.items()}
