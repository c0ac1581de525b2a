"""The plans of many nodes, told by those that are equal. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from profiles.firmware.bundle import FirmwareBundle
from provisioner.firmware.classes import Classes
from provisioner.firmware.domains import Neighbour, Neighbourhood
from provisioner.firmware.plan import FirmwarePlan, plan_for
from provisioner.models.identifiers import NodeName
from provisioner.models.inventory import FirmwareComponent
from provisioner.models.node import Node


@dataclass(frozen=True, slots=True)
class PlanGroup:
    """Nodes with one plan, in the order of the pool.

    `plan` is that of the first of them: in the others the parts may have other URIs. `others`: nodes outside of the
    pool that go down with one of them. `blocking`: nodes, also of the pool, that must not go down now.
    """

    bundle: str
    nodes: tuple[NodeName, ...]
    plan: FirmwarePlan
    others: tuple[NodeName, ...]
    blocking: tuple[Neighbour, ...]


class PoolPlanner:
    """Plans nodes of one bundle; equal inventories are planned once."""

    def __init__(self, bundle: FirmwareBundle, *, allow_irreversible: bool = True) -> None:
        """What cannot be reverted is told in each plan; it is a refusal too unless `allow_irreversible`."""
        self._classes = Classes(bundle)
        self._allow = allow_irreversible
        self._plans: dict[tuple[FirmwareComponent, ...], FirmwarePlan] = {}

    @property
    def bundle(self) -> str:
        """Its name."""
        return self._classes.bundle.name

    def plan(self, inventory: tuple[FirmwareComponent, ...]) -> FirmwarePlan:
        """Of one node."""
        found = self._plans.get(inventory)
        if found is None:
            found = plan_for(self._classes, inventory, allow_irreversible=self._allow)
            self._plans[inventory] = found
        return found


def plan_pool(
    bundle: FirmwareBundle,
    pool: Sequence[Node],
    inventories: Mapping[NodeName, tuple[FirmwareComponent, ...]],
    neighbourhood: Neighbourhood,
) -> tuple[PlanGroup, ...]:
    """The nodes of `pool` that have an inventory, by what would be done to them: the most nodes first."""
    planner = PoolPlanner(bundle)
    plans: dict[object, FirmwarePlan] = {}
    nodes: dict[object, list[Node]] = {}
    names: dict[int, object] = {}
    for node in pool:
        if node.name not in inventories:
            continue
        plan = planner.plan(inventories[node.name])
        key = names.get(id(plan))
        if key is None:
            key = names[id(plan)] = _told(plan)
        plans.setdefault(key, plan)
        nodes.setdefault(key, []).append(node)
    inside = {node.name for node in pool}
    groups = [_group(bundle.name, plan, nodes[key], neighbourhood, inside) for key, plan in plans.items()]
    return tuple(sorted(groups, key=lambda group: -len(group.nodes)))


def _told(plan: FirmwarePlan) -> object:
    """What people are told of a plan: without the URIs, which differ between equal servers."""
    return (
        plan.refusals,
        tuple(
            (
                stage.activation,
                tuple(
                    (update.components, update.versions, tuple(sorted(set(update.running))), len(update.parts))
                    for update in stage.updates
                ),
            )
            for stage in plan.stages
        ),
        plan.irreversible,
    )


def _group(
    bundle: str, plan: FirmwarePlan, nodes: Sequence[Node], neighbourhood: Neighbourhood, inside: set[NodeName]
) -> PlanGroup:
    found: dict[NodeName, Neighbour] = {}
    for node in nodes:
        for stage in plan.stages:
            found.update({one.name: one for one in neighbourhood.reach(stage, node).neighbours})
    others = tuple(sorted(name for name in found if name not in inside))
    blocking = tuple(sorted((one for one in found.values() if one.blocks), key=lambda one: one.place))
    return PlanGroup(bundle, tuple(node.name for node in nodes), plan, others, blocking)
