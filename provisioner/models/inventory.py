"""What was seen on a device. Names are DMTF's."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from provisioner.models.identifiers import NodeName


class Power(StrEnum):
    """ComputerSystem.PowerState, as far as it matters here."""

    ON = "On"
    OFF = "Off"
    POWERING_ON = "PoweringOn"
    POWERING_OFF = "PoweringOff"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a server says it is. Empty strings mean that it did not say."""

    serial: str
    uuid: str
    manufacturer: str
    model: str


@dataclass(frozen=True, slots=True)
class FirmwareComponent:
    """One entry of the firmware inventory. `version` is None where the BMC gives none (absent, not old)."""

    id: str
    uri: str
    name: str
    version: str | None
    updateable: bool
    write_protected: bool = False
    """The device refuses a flash until the protection is lifted (SoftwareInventory.WriteProtected)."""
    copying: bool = False
    """The device copies its running image to its other slot: a flash now is refused, or unsafe."""
    related: tuple[str, ...] = ()
    """RelatedItem: the resources that it is the firmware of."""
    other_slot: str | None = None
    """The version in the slot that does not run, where the BMC says it: what waits, or what ran before."""


@dataclass(frozen=True, slots=True)
class FirmwareSighting:
    """The firmware inventory of a node as it was when it was read last."""

    node: NodeName
    at: datetime
    parts: tuple[FirmwareComponent, ...]


@dataclass(frozen=True, slots=True)
class Processor:
    """One CPU or GPU."""

    id: str
    kind: str
    """ProcessorType: CPU, GPU, ..."""
    model: str


@dataclass(frozen=True, slots=True)
class BootAbilities:
    """What the BMC offers for boot overrides."""

    targets: tuple[str, ...]
    """BootSourceOverrideTarget allowable values; empty when not given."""
    http_boot_uri: bool
    """The HttpBootUri property is there to be set."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """One sweep over one server."""

    identity: Identity
    power: Power
    architecture: str
    """x86_64 or aarch64."""
    processors: tuple[Processor, ...]
    memory_gib: float
    macs: tuple[str, ...]
    firmware: tuple[FirmwareComponent, ...]
    boot: BootAbilities
    requests: int
    """How many GETs the sweep took."""

    @property
    def gpus(self) -> tuple[Processor, ...]:
        """The GPUs among the processors."""
        return tuple(one for one in self.processors if one.kind == "GPU")


@dataclass(frozen=True, slots=True)
class Task:
    """One look at a BMC's task. `percent` is None when the BMC does not say."""

    uri: str
    state: str
    """TaskState: New, Running, Completed, Exception, ..."""
    status: str
    """TaskStatus: OK, Warning, Critical; empty when not given."""
    percent: int | None
    messages: tuple[str, ...]
    targets: tuple[str, ...] = ()
    """Targets of the request that made it (Task.Payload), where the BMC tells."""
    name: str = ""
    """Task.Name, for people: whose it is."""
    request: str = ""
    """The resource that the request went to (Task.Payload.TargetUri), where the BMC tells."""
