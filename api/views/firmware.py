"""Firmware plans and compliance as the API shows them."""

from datetime import datetime
from typing import Self

from pydantic import BaseModel

from provisioner.firmware.compliance import ClassCompliance
from provisioner.firmware.domains import Neighbour, Reach
from provisioner.firmware.plan import Stage, Update
from provisioner.firmware.pool import PlanGroup
from provisioner.services.firmware import NodeFirmwarePlan, Pool, PoolCompliance, PoolPlan


class UpdateView(BaseModel):
    """One file that is sent once. `parts`: how many are behind; `running`: what they report, each version once."""

    components: list[str]
    versions: list[str]
    file: str
    size_bytes: int
    running: list[str]
    parts: int
    activation: str
    irreversible: bool
    expected_seconds: float

    @classmethod
    def of(cls, one: Update) -> Self:
        """The view."""
        return cls(
            components=list(one.components),
            versions=list(one.versions),
            file=one.file,
            size_bytes=one.size_bytes,
            running=sorted(set(one.running)),
            parts=len(one.parts),
            activation=one.activation,
            irreversible=one.irreversible,
            expected_seconds=one.expected.total_seconds(),
        )


class NeighbourView(BaseModel):
    """A node that goes down too. `blocks`: why it must not now; empty where it may."""

    node: str
    place: str
    domain: str
    shared: str
    blocks: str

    @classmethod
    def of(cls, one: Neighbour) -> Self:
        """The view."""
        return cls(node=one.name, place=one.place, domain=one.domain, shared=one.shared, blocks=one.blocks)


class StageView(BaseModel):
    """Its updates are flashed in order, then one activation makes them run. Seconds are those of real hardware.

    `undeclared`: domains that the activation takes down and that the expected list does not name for the node.
    """

    updates: list[UpdateView]
    activation: str
    expected_seconds: float
    domains: list[str]
    neighbours: list[NeighbourView]
    undeclared: list[str]

    @classmethod
    def of(cls, one: Stage, reach: Reach) -> Self:
        """The view."""
        return cls(
            updates=[UpdateView.of(update) for update in one.updates],
            activation=one.activation,
            expected_seconds=one.minutes.total_seconds(),
            domains=list(one.domains),
            neighbours=[NeighbourView.of(neighbour) for neighbour in reach.neighbours],
            undeclared=list(reach.undeclared),
        )


class FirmwarePlanView(BaseModel):
    """What would be done to a node's firmware, in order. With a refusal, nothing would be done. No bundle: no release.

    `irreversible` has to be approved before anything is done.
    """

    node: str
    bundle: str | None
    stages: list[StageView]
    irreversible: list[str]
    refusals: list[str]
    expected_seconds: float

    @classmethod
    def of(cls, one: NodeFirmwarePlan) -> Self:
        """The view."""
        pairs = zip(one.plan.stages, one.reaches, strict=True)
        return cls(
            node=one.node.name,
            bundle=one.bundle,
            stages=[StageView.of(stage, reach) for stage, reach in pairs],
            irreversible=list(one.plan.irreversible),
            refusals=list(one.plan.refusals),
            expected_seconds=one.plan.minutes.total_seconds(),
        )


class PoolView(BaseModel):
    """Nodes that are looked at together, as their last inventories say. `unseen` have no inventory or no release."""

    nodes: int
    unseen: list[str]
    oldest_inventory_at: datetime | None
    newest_inventory_at: datetime | None

    @classmethod
    def of(cls, one: Pool) -> Self:
        """The view."""
        return cls(
            nodes=one.nodes,
            unseen=list(one.unseen),
            oldest_inventory_at=one.oldest,
            newest_inventory_at=one.newest,
        )


class GroupView(BaseModel):
    """Nodes with one plan; `stages` are those of the first. `others` go down too and are not in the pool."""

    bundle: str
    nodes: list[str]
    stages: list[StageView]
    irreversible: list[str]
    refusals: list[str]
    expected_seconds: float
    others: list[str]
    blocking: list[NeighbourView]

    @classmethod
    def of(cls, one: PlanGroup) -> Self:
        """The view."""
        return cls(
            bundle=one.bundle,
            nodes=list(one.nodes),
            stages=[StageView.of(stage, Reach()) for stage in one.plan.stages],
            irreversible=list(one.plan.irreversible),
            refusals=list(one.plan.refusals),
            expected_seconds=one.plan.minutes.total_seconds(),
            others=list(one.others),
            blocking=[NeighbourView.of(neighbour) for neighbour in one.blocking],
        )


class PoolPlanView(BaseModel):
    """What would be done to a pool, by equal plans, the most nodes first."""

    pool: PoolView
    groups: list[GroupView]

    @classmethod
    def of(cls, one: PoolPlan) -> Self:
        """The view."""
        return cls(pool=PoolView.of(one.pool), groups=[GroupView.of(group) for group in one.groups])


class VersionView(BaseModel):
    """How many nodes have a part that runs it. `verdict`: equal, older, newer, or unknown beside the wanted one."""

    version: str
    nodes: int
    verdict: str


class ClassView(BaseModel):
    """One component class in the pool. `mixed`: nodes with different versions inside; `unknown`: without a version;
    `uneven`: with another number of parts than most; `below_floor`: with a part that is urgent.
    """

    component: str
    wanted: str
    nodes: int
    uniform: bool
    compliant: bool
    versions: list[VersionView]
    mixed: list[str]
    unknown: list[str]
    uneven: list[str]
    below_floor: list[str]

    @classmethod
    def of(cls, one: ClassCompliance) -> Self:
        """The view."""
        return cls(
            component=one.component,
            wanted=one.wanted,
            nodes=one.nodes,
            uniform=one.uniform,
            compliant=one.compliant,
            versions=[VersionView(version=it.version, nodes=it.nodes, verdict=it.verdict) for it in one.versions],
            mixed=list(one.mixed),
            unknown=list(one.unknown),
            uneven=list(one.uneven),
            below_floor=list(one.below_floor),
        )


class BundleView(BaseModel):
    """The nodes of the pool that should run one bundle."""

    bundle: str
    components: list[ClassView]


class ComplianceView(BaseModel):
    """What a pool runs beside what it should, by bundle and component class."""

    pool: PoolView
    bundles: list[BundleView]

    @classmethod
    def of(cls, one: PoolCompliance) -> Self:
        """The view."""
        return cls(
            pool=PoolView.of(one.pool),
            bundles=[
                BundleView(bundle=name, components=[ClassView.of(entry) for entry in entries])
                for name, entries in one.bundles
            ],
        )
