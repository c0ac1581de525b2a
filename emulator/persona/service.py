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
    top_skip: bool = True
    page_size: int | None = None
    gzip: bool = False
    delete_closes_sse: bool = True


class Services(Part):
    """The optional services that this BMC has."""

    events: bool = True
    telemetry: bool = False
    certificates: bool = True
    component_integrity: bool = False
    virtual_media: tuple[str, ...] = ("Cd",)
    virtual_media_of: Literal["manager", "system"] = "manager"


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


class Update(Part):
    """The ways in which firmware may be sent."""

    simple_update: bool
    protocols: tuple[str, ...] = ("HTTP", "HTTPS")
    multipart_uri: str | None
    push_uri: str | None
    max_image_bytes: int | None = None


class Tasks(Part):
    """Where a task is found. `body` says what a 202 answer carries; numbers may start again when the BMC does."""

    id: str = "{number}"
    digits: int = 1
    numbers_restart: bool = True
    monitor: str = "/redfish/v1/TaskService/TaskMonitors/{id}"
    body: Literal["task", "message", "empty"] = "task"
