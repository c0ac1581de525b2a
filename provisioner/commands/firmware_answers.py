"""What the API answers about firmware, as far as commands show it. A newer service may say more."""

from datetime import datetime

from pydantic import BaseModel


class Update(BaseModel):
    """One file that is sent once."""

    components: list[str]
    versions: list[str]
    file: str
    running: list[str]
    parts: int
    irreversible: bool
    expected_seconds: float


class Neighbour(BaseModel):
    """A node that goes down too."""

    node: str
    place: str
    domain: str
    shared: str
    blocks: str


class Stage(BaseModel):
    """Flashes, then one activation."""

    updates: list[Update]
    activation: str
    expected_seconds: float
    neighbours: list[Neighbour]
    undeclared: list[str]


class FirmwarePlan(BaseModel):
    """What would be done to a node's firmware."""

    node: str
    bundle: str | None
    stages: list[Stage]
    irreversible: list[str]
    refusals: list[str]
    expected_seconds: float


class Pool(BaseModel):
    """Nodes that are looked at together."""

    nodes: int
    unseen: list[str]
    oldest_inventory_at: datetime | None
    newest_inventory_at: datetime | None


class Group(BaseModel):
    """Nodes with one plan."""

    bundle: str
    nodes: list[str]
    stages: list[Stage]
    irreversible: list[str]
    refusals: list[str]
    expected_seconds: float
    others: list[str]
    blocking: list[Neighbour]


class PoolPlan(BaseModel):
    """What would be done to a pool."""

    pool: Pool
    groups: list[Group]


class VersionCount(BaseModel):
    """How many nodes have a part that runs it."""

    version: str
    nodes: int
    verdict: str


class ClassCompliance(BaseModel):
    """One component class in a pool."""

    component: str
    wanted: str
    nodes: int
    uniform: bool
    compliant: bool
    versions: list[VersionCount]
    mixed: list[str]
    unknown: list[str]
    uneven: list[str]
    below_floor: list[str]


class Bundle(BaseModel):
    """The nodes that should run one bundle."""

    bundle: str
    components: list[ClassCompliance]


class Compliance(BaseModel):
    """What a pool runs beside what it should."""

    pool: Pool
    bundles: list[Bundle]
