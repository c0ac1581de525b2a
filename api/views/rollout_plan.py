"""The plan of a rollout as the API shows it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Self

from pydantic import BaseModel, Field

from provisioner.rollout.plan import Plan
from provisioner.services.rollouts import Planned


class WavePlanView(BaseModel):
    """One wave. `sees_defect_from`: the smallest share of failing nodes that is seen by its end with 95 %."""

    number: int
    units: list[str]
    nodes: int
    sees_defect_from: float


class PlanView(BaseModel):
    """What would happen. `excluded`, `left_out`: units and nodes of the pool that are in no wave, and why."""

    name: str
    pool: str
    from_release: str
    to_release: str
    firmware: str | None = Field(description="the bundle that it brings; null where it brings none")
    irreversible: bool
    nodes: int
    may_be_out: dict[str, int] = Field(description="nodes that may be out of service at once, by hardware class")
    unit_minutes_at_most: float
    hours_at_least: float = Field(description="all waves one after the other, when nothing has to be tried again")
    waves: list[WavePlanView]
    excluded: dict[str, str]
    left_out: dict[str, str]
    broken: list[str]

    @classmethod
    def of(cls, planned: Planned) -> Self:
        """The view."""
        plan = planned.plan
        spec = plan.spec
        totals = _totals(plan)
        return cls(
            name=spec.name,
            pool=spec.pool,
            from_release=spec.from_release,
            to_release=spec.to_release,
            firmware=spec.to_firmware,
            irreversible=spec.irreversible,
            nodes=sum(totals.values()),
            may_be_out={name: spec.floor.may_be_out(total) for name, total in totals.items()},
            unit_minutes_at_most=spec.worst_case().total_seconds() / 60,
            hours_at_least=len(plan.waves) * spec.soak.time.total_seconds() / 3600,
            waves=list(_waves(plan)),
            excluded=dict(plan.excluded),
            left_out={str(name): why for name, why in planned.left_out.items()},
            broken=sorted(planned.broken),
        )


def _waves(plan: Plan) -> Iterator[WavePlanView]:
    for number, wave in enumerate(plan.waves):
        nodes = sum(len(plan.units[name].nodes) for name in wave)
        yield WavePlanView(number=number, units=list(wave), nodes=nodes, sees_defect_from=plan.sights[number].defect)


def _totals(plan: Plan) -> Mapping[str, int]:
    totals: Counter[str] = Counter()
    for unit in plan.units.values():
        totals[unit.hardware_class] += len(unit.nodes)
    return totals
