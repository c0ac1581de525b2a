"""A persona: how one kind of server looks and behaves. The files are in personas/, one per kind."""

import difflib
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from emulator.errors import ConfigError
from emulator.strict_yaml import load_yaml

PERSONAS = Path(__file__).parent / "personas"

Activation = Literal["none", "bmc_reset", "host_reset", "power_cycle"]
Attribute = str | int | bool


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Root(_Part):
    """The service root: what a client sees before it has logged in."""

    id: str = "RootService"
    redfish_version: str
    vendor: str | None
    product: str | None
    uuid: Literal["system", "own", "absent"]


class Expand(_Part):
    """ProtocolFeaturesSupported.ExpandQuery."""

    links: bool = True
    no_links: bool = True
    expand_all: bool = True
    levels: bool = True
    max_levels: int = 1


class System(_Part):
    """The computer system; `version_pattern` takes BiosVersion out of the BIOS entry of the inventory."""

    id: str
    name: str = "System"
    manufacturer: str
    model: str
    sku: str
    part_number: str
    reset_types: tuple[str, ...]
    version_pattern: str = "(.*)"
    memory_gib: int
    dimms: int
    cpu_model: str
    cpu_ids: tuple[str, ...]
    cpu_cores: int
    drives: int = 0
    drive_model: str = ""
    drive_bytes: int = 0
    nics: tuple[str, ...]


class Gpus(_Part):
    """The GPUs: `collection` is the one that holds them, a Processors or a PCIeDevices collection."""

    ids: tuple[str, ...]
    model: str
    manufacturer: str = "NVIDIA"
    part_number: str
    memory_gib: int
    system: str  # id of the system whose Processors they are


class BmcPart(_Part):
    """The manager."""

    id: str
    model: str
    reset_types: tuple[str, ...]


class ChassisPart(_Part):
    """One chassis; the first one holds the system and has its serial number."""

    id: str
    type: str = "RackMount"
    model: str


class Accounts(_Part):
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


class Sessions(_Part):
    """Session policy."""

    limit: int
    timeout_seconds: float


class Durations(_Part):
    """Emulated seconds."""

    power_on: float
    power_off: float
    post: float
    bmc_reset: float
    boot_retry: float


class Boot(_Part):
    """Boot abilities. A network boot works only while the named BIOS attributes have the named values."""

    targets: tuple[str, ...]
    modes: tuple[str, ...] = ("UEFI",)
    http_boot_uri: bool
    order: tuple[str, ...] = ("Hdd", "Pxe")
    http_needs: dict[str, Attribute] = Field(default_factory=dict)
    pxe_needs: dict[str, Attribute] = Field(default_factory=dict)


class BiosAttribute(_Part):
    """One BIOS attribute: its type, its factory value, what may be written."""

    type: Literal["Enumeration", "Integer", "Boolean", "String"]
    value: Attribute
    allowed: tuple[str, ...] = ()
    lower: int | None = None
    upper: int | None = None
    read_only: bool = False


class Bios(_Part):
    """The BIOS: `settings` is the last part of the path of the pending settings."""

    settings: str
    registry: str | None
    attributes: dict[str, BiosAttribute]


class Component(_Part):
    """A component class: how its firmware is flashed and becomes active, and the newest version there is."""

    activation: Activation
    flash_seconds: float
    newest: str
    size_bytes: int = 65536


class Inventory(_Part):
    """Entries of the firmware inventory; `{n}` in id and name counts, `{version}` is the running version."""

    component: str
    id: str
    name: str
    version: str
    count: int = 1
    first: int = 0
    updateable: bool = True
    software_id: str | None = None
    related: str | None = None


class Update(_Part):
    """The ways in which firmware may be sent."""

    simple_update: bool
    protocols: tuple[str, ...] = ("HTTP", "HTTPS")
    multipart_uri: str | None
    push_uri: str | None
    max_image_bytes: int | None = None


class Tasks(_Part):
    """Where a task is found. `body` says what a 202 answer carries; numbers may start again when the BMC does."""

    id: str = "{number}"
    digits: int = 1
    numbers_restart: bool = True
    monitor: str = "/redfish/v1/TaskService/TaskMonitors/{id}"
    body: Literal["task", "message", "empty"] = "task"


class Slot(_Part):
    """One device that runs firmware; `key` never changes, the inventory id may hold the version."""

    key: str
    id: str
    name: str
    component: str
    version: str
    updateable: bool
    software_id: str | None
    related: str | None

    def inventory_id(self, version: str) -> str:
        """The id of its inventory entry while it runs `version`."""
        return self.id.replace("{version}", version)


class Persona(_Part):
    """One kind of server. Shared by all machines of that kind."""

    name: str
    arch: Literal["x86_64", "arm64"]
    serial_pattern: str
    mac_prefix: str
    root: Root
    expand: Expand
    etag: Literal["none", "optional", "required"]
    system: System
    baseboard: str | None = None  # id of a second system, which holds the GPUs
    gpus: Gpus
    bmc: BmcPart
    chassis: tuple[ChassisPart, ...]
    accounts: Accounts
    sessions: Sessions
    durations: Durations
    boot: Boot
    bios: Bios
    update: Update
    tasks: Tasks = Tasks()
    components: dict[str, Component]
    firmware: tuple[Inventory, ...]

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """Every device that runs firmware, by its key."""
        return {slot.key: slot for entry in self.firmware for slot in _slots(entry)}

    @cached_property
    def factory_bios(self) -> dict[str, Attribute]:
        """The BIOS attributes as they leave the factory."""
        return {name: attribute.value for name, attribute in self.bios.attributes.items()}

    def model_post_init(self, _context: Any) -> None:
        """Refuse an inventory entry whose component class is not described."""
        for entry in self.firmware:
            if entry.component not in self.components:
                raise ValueError(f"{entry.id}: component class '{entry.component}' is not in components")


@lru_cache
def load_persona(name: str) -> Persona:
    """The persona of that name; raises ConfigError."""
    known = persona_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        advice = f"did you mean '{near[0]}'?" if near else f"known personas: {', '.join(known)}"
        raise ConfigError(f"unknown persona '{name}'; {advice}")
    return load_yaml(PERSONAS / f"{name}.yaml", Persona)


def persona_names() -> tuple[str, ...]:
    """The personas that there are."""
    return tuple(sorted(path.stem for path in PERSONAS.glob("*.yaml")))


def _slots(entry: Inventory) -> Iterator[Slot]:
    for number in range(entry.first, entry.first + entry.count):
        identity = entry.id.replace("{n}", str(number))
        yield Slot(
            key=identity.replace("{version}", "*"),
            id=identity,
            name=entry.name.replace("{n}", str(number)),
            related=entry.related.replace("{n}", str(number)) if entry.related else None,
            **entry.model_dump(include={"component", "version", "updateable", "software_id"}),
        )
