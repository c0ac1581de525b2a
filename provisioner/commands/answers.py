"""What the API answers, as far as commands show it. A newer service may say more."""

from datetime import datetime

from pydantic import BaseModel


class Instruction(BaseModel):
    """What one person does next."""

    owner: str
    where: str
    what: str
    done_when: str
    part: str | None = None


class Hold(BaseModel):
    """Why a node waits."""

    reason: str
    since: datetime
    retry_at: datetime | None
    held_from: str | None
    instruction: Instruction


class NodeLine(BaseModel):
    """One node in one line."""

    name: str
    rack: str
    position: int
    state: str
    since: datetime
    doing: str
    percent: float | None
    way: float
    left_seconds: float | None
    owner: str
    hold: Hold | None
    hardware_class: str | None
    release: str | None


class NodePage(BaseModel):
    """Some nodes, and where the others begin."""

    nodes: list[NodeLine]
    next: str | None


class Firmware(BaseModel):
    """One entry of the firmware inventory."""

    id: str
    name: str
    version: str | None


class Inventory(BaseModel):
    """What was inside at the last sweep."""

    power: str
    architecture: str
    processors: list[str]
    gpus: list[str]
    memory_gib: float
    macs: list[str]
    firmware: list[Firmware]


class Result(BaseModel):
    """One check of a burn-in."""

    item: str
    status: str
    started_at: datetime
    finished_at: datetime
    metrics: dict[str, float]
    evidence: str


class BurnIn(BaseModel):
    """The last burn-in run."""

    run: str
    plan: str
    opened_at: datetime
    last_sign_at: datetime | None
    results: list[Result]


class NodeDetail(NodeLine):
    """Everything about one node."""

    bmc: str
    serial: str | None
    uuid: str | None
    manufacturer: str | None
    model: str | None
    observed_image: str | None
    generation: int
    attempt: int
    failures: int
    retry_at: datetime | None
    inventory: Inventory | None
    burn_in: BurnIn | None


class Event(BaseModel):
    """One line of a history."""

    id: int
    at: datetime
    node: str
    kind: str
    reason: str
    from_state: str | None
    to_state: str | None


class Explanation(BaseModel):
    """Why a node is where it is."""

    node: str
    place: str
    state: str
    since: datetime
    doing: str
    percent: float | None
    owner: str
    seen: str | None
    instruction: Instruction | None
    retry_at: datetime | None
    wait_seconds: float | None
    events: list[Event]


class PlanStep(BaseModel):
    """One thing that would be done."""

    what: str
    expected_seconds: float
    resets: str
    refusals: list[str]


class Plan(BaseModel):
    """What would be done to a node, in order."""

    node: str
    release: str | None
    steps: list[PlanStep]
    host_resets: int
    expected_seconds: float


class FoundBmc(BaseModel):
    """A BMC that answered, and the node that the plan has there."""

    address: str
    port: int
    vendor: str
    product: str
    uuid: str
    node: str


class UnexpectedBmc(BaseModel):
    """One that answers where no node is."""

    address: str
    port: int
    vendor: str
    product: str
    uuid: str
    same_uuid: list[str]
    instruction: Instruction


class MissingNode(BaseModel):
    """A node whose BMC did not answer."""

    node: str
    rack: str
    position: int
    address: str
    port: int
    elsewhere: list[str]
    instruction: Instruction


class UnknownHost(BaseModel):
    """A host that asked for an address or for something to boot, and is no node."""

    mac: str
    address: str
    client_class: str
    uuid: str
    serial: str
    last_seen: datetime
    instruction: Instruction


class Discoveries(BaseModel):
    """What the last scan means. `scanned_at` is null before the first."""

    scanned_at: datetime | None
    next_scan_at: datetime | None
    ranges: list[str]
    expected: list[FoundBmc]
    unexpected: list[UnexpectedBmc]
    missing: list[MissingNode]
    hosts: list[UnknownHost] = []


class FirmwareChange(BaseModel):
    """One phase of an update."""

    phase: str
    at: datetime
    reason: str
    seen: bool


class FirmwareUpdate(BaseModel):
    """One try with one component class or part."""

    component: str
    part: str | None
    version: str
    package: str
    activation: str
    attempt: int
    phase: str
    reason: str
    task: str | None
    changes: list[FirmwareChange]


class FirmwareUpdates(BaseModel):
    """The journal of a node, oldest first."""

    node: str
    updates: list[FirmwareUpdate]


class TokenLine(BaseModel):
    """One token, without its secret."""

    name: str
    role: str
    scopes: list[str]
    narrowed: bool
    prefix: str
    created_at: datetime | None
    expires_at: datetime | None
    last_used_at: datetime | None


class NewToken(TokenLine):
    """A token that was made just now, shown this once."""

    token: str


class TokenList(BaseModel):
    """Every token of the service."""

    tokens: list[TokenLine]
