"""How the service of a BMC behaves: what it shows before a login, which queries it takes, who may log in."""

from typing import Literal

from emulator.persona.part import Part


class Root(Part):
    """The service root: what a client sees before it has logged in."""

    id: str = "RootService"
    redfish_version: str
    vendor: str | None
    product: str | None
    uuid: Literal["system", "own", "absent"]


class Expand(Part):
    """ProtocolFeaturesSupported.ExpandQuery."""

    links: bool = True
    no_links: bool = True
    expand_all: bool = True
    levels: bool = True
    max_levels: int = 1


class Protocol(Part):
    """Query parameters and habits of the service beyond $expand. `page_size` None: collections come whole."""

    select: bool = True
    only: bool = True
    filter: bool = False
    top_skip: bool = True
    page_size: int | None = None
    gzip: bool = False


class Log(Part):
    """One log: whose it is, its id, the topics that it takes and how many records it holds.

    `kind` is its LogEntryType. `collects`: CollectDiagnosticData puts its files here.
    """

    owner: Literal["system", "baseboard", "manager", "baseboard-manager", "chassis"] = "system"
    chassis: str | None = None  # of the chassis that owns it
    id: str = "EventLog"
    name: str = "Event Log Service"
    kind: Literal["SEL", "Event"] = "Event"
    takes: tuple[Literal["host", "bmc", "gpu"], ...] = ("host",)
    records: int = 512
    collects: bool = False

    @property
    def key(self) -> str:
        """What tells it from the other logs of the machine."""
        return f"{self.owner}/{self.chassis or ''}/{self.id}"


_LOGS = (
    Log(id="SEL", name="System Event Log Service", kind="SEL", takes=("host", "gpu")),
    Log(owner="manager", id="Log", name="Manager Log Service", takes=("bmc",), collects=True),
)


class Services(Part):
    """The optional services that this BMC has."""

    events: bool = True
    telemetry: bool = False
    certificates: bool = True
    component_integrity: bool = False
    virtual_media: tuple[str, ...] = ("Cd",)
    virtual_media_of: Literal["manager", "system"] = "manager"
    subscriptions: int = 20  # event subscriptions at most
    sse: bool = True
    delete_closes_sse: bool = True  # DELETE of the subscription of a stream ends the stream
    sse_uri: str = "/redfish/v1/EventService/SSE"
    logs: tuple[Log, ...] = _LOGS


class Accounts(Part):
    """Account policy. `lockout_threshold` 0: never locked. `factory_password` None: unique, printed on the label."""

    username: str
    id: str
    factory_password: str | None = None
    change_required: bool = False
    min_password: int = 8
    max_password: int = 20
    lockout_threshold: int
    lockout_seconds: float
    counter_reset_seconds: float
    slots: int = 16  # accounts at most


class Sessions(Part):
    """Session policy."""

    limit: int
    timeout_seconds: float
