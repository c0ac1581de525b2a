"""What people may ask about the firmware of nodes and pools before anything is done to it."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from profiles.firmware.bundle import FirmwareBundle
from provisioner.capabilities.world import World
from provisioner.errors import NotFound
from provisioner.firmware.compliance import ClassCompliance, compliance
from provisioner.firmware.domains import Neighbourhood, Reach
from provisioner.firmware.plan import FirmwarePlan, plan_updates
from provisioner.firmware.pool import PlanGroup, plan_pool
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.inventory import FirmwareComponent, FirmwareSighting
from provisioner.models.node import Node
from provisioner.operations.reach import bmc_of


@dataclass(frozen=True, slots=True)
class NodeFirmwarePlan:
    """What would be done to one node. `reaches`: what each stage takes down beside it. Without a release: nothing."""

    node: Node
    bundle: str | None
    plan: FirmwarePlan
    reaches: tuple[Reach, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes that are looked at together, as their stored inventories say.

    `unseen`: those without an inventory or without a release, of which nothing can be said. `oldest` and `newest`:
    when the inventories were read; None where there are none.
    """

    nodes: int
    unseen: tuple[NodeName, ...]
    oldest: datetime | None
    newest: datetime | None


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """What would be done to a pool, the most nodes first."""

    pool: Pool
    groups: tuple[PlanGroup, ...]


@dataclass(frozen=True, slots=True)
class PoolCompliance:
    """What a pool runs: for each bundle that its nodes should run, the classes in the order of the bundle."""

    pool: Pool
    bundles: tuple[tuple[str, tuple[ClassCompliance, ...]], ...]


async def plan_node(world: World, name: NodeName) -> NodeFirmwarePlan:
    """Look at the device now; writes nothing. Raises `NotFound`, `Conflict`, `BmcError`."""
    node = await world.nodes.get(name)
    if node.release is None:
        return NodeFirmwarePlan(node, None, FirmwarePlan(), ())
    bundle = (await world.documents.release(node.release)).firmware
    async with bmc_of(world, name) as bmc:
        offer, inventory = await bmc.update_offer(), await bmc.firmware()
    plan = plan_updates(bundle, inventory, allow_irreversible=True, largest_bytes=offer.largest_bytes)
    around = Neighbourhood(await world.nodes.all())
    return NodeFirmwarePlan(node, bundle.name, plan, tuple(around.reach(stage, node) for stage in plan.stages))


async def plan_of_pool(world: World, hardware_class: str | None, rack: str | None) -> PoolPlan:
    """From the last inventories; asks no BMC. Raises `NotFound` when no node is in the pool."""
    chosen = await _choose(world, hardware_class, rack)
    return await asyncio.to_thread(_plan, chosen, Neighbourhood(chosen.everybody))


async def compliance_of_pool(world: World, hardware_class: str | None, rack: str | None) -> PoolCompliance:
    """From the last inventories; asks no BMC. Neither given: every node. Raises `NotFound` when there is none."""
    return await asyncio.to_thread(_comply, await _choose(world, hardware_class, rack))


@dataclass(frozen=True, slots=True)
class _Chosen:
    pool: Pool
    everybody: Sequence[Node]
    bundles: Mapping[ReleaseDigest, FirmwareBundle]
    nodes: Mapping[ReleaseDigest, Sequence[Node]]
    """Those that were seen, by their release."""
    inventories: Mapping[NodeName, tuple[FirmwareComponent, ...]]


async def _choose(world: World, hardware_class: str | None, rack: str | None) -> _Chosen:
    everybody = await world.nodes.all()
    pool = [
        node for node in everybody if hardware_class in {None, node.hardware_class} and rack in {None, str(node.rack)}
    ]
    if not pool:
        where = " and ".join(
            [
                *([f"has the hardware class {hardware_class}"] if hardware_class else []),
                *([f"is in {rack}"] if rack else []),
            ]
        )
        raise NotFound(f"no node {where or 'is known'}: firstlight node list shows all")
    seen = {one.node: one for one in await world.documents.firmware([node.name for node in pool])}
    by_release: dict[ReleaseDigest, list[Node]] = defaultdict(list)
    for node in pool:
        if node.release is not None and node.name in seen:
            by_release[node.release].append(node)
    told = {node.name for nodes in by_release.values() for node in nodes}
    return _Chosen(
        pool=_pool(pool, [seen[name] for name in told], told),
        everybody=everybody,
        bundles={digest: (await world.documents.release(digest)).firmware for digest in by_release},
        nodes=by_release,
        inventories={name: seen[name].parts for name in told},
    )


def _pool(pool: Sequence[Node], seen: Sequence[FirmwareSighting], told: set[NodeName]) -> Pool:
    times = [one.at for one in seen]
    return Pool(
        nodes=len(pool),
        unseen=tuple(node.name for node in pool if node.name not in told),
        oldest=min(times, default=None),
        newest=max(times, default=None),
    )


def _plan(chosen: _Chosen, around: Neighbourhood) -> PoolPlan:
    groups = [
        group
        for digest, bundle in chosen.bundles.items()
        for group in plan_pool(bundle, chosen.nodes[digest], chosen.inventories, around)
    ]
    return PoolPlan(chosen.pool, tuple(sorted(groups, key=lambda group: -len(group.nodes))))


def _comply(chosen: _Chosen) -> PoolCompliance:
    """Releases may share a bundle: it is one pool then."""
    bundles: dict[str, tuple[FirmwareBundle, dict[NodeName, tuple[FirmwareComponent, ...]]]] = {}
    for digest, bundle in chosen.bundles.items():
        _, inventories = bundles.setdefault(bundle.model_dump_json(), (bundle, {}))
        inventories.update({node.name: chosen.inventories[node.name] for node in chosen.nodes[digest]})
    return PoolCompliance(
        chosen.pool, tuple((bundle.name, compliance(bundle, inventories)) for bundle, inventories in bundles.values())
    )
