"""What is in the box: processors, GPUs, chassis, power, cooling, network adapters."""

from typing import Literal

from pydantic import Field

from emulator.persona.part import Part, numbered


class System(Part):
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
    dimm_model: str = "M321R8GA0BB0-CQKZJ"
    dimm_manufacturer: str = "Samsung"
    dimm_mhz: int = 4800
    cpu_model: str
    cpu_manufacturer: str = "Intel(R) Corporation"
    cpu_ids: tuple[str, ...]
    cpu_cores: int
    cpu_threads_per_core: int = 2
    drives: int = 0
    drive_model: str = ""
    drive_manufacturer: str = "Samsung"
    drive_bytes: int = 0
    nics: tuple[str, ...]


class Gpus(Part):
    """The GPUs. `place`: they are Processors of `system`, or PCIeDevices of the first chassis."""

    ids: tuple[str, ...] = ()
    model: str = ""
    manufacturer: str = "NVIDIA"
    part_number: str = ""
    memory_gib: int = 0
    system: str = ""  # id of the system whose Processors they are
    place: Literal["processors", "pcie-devices"] = "processors"
    chassis: str | None = None  # pattern of the id of the chassis of each, `{n}` counts from `first`; None: no chassis
    first: int = 0
    maximum_watts: int = 700
    maximum_celsius: int = 87
    nvlinks: int = 18
    nvlink_gbps: float = 400.0
    pci_device: str = "0x2330"


class NvSwitches(Part):
    """NVSwitches of an HGX baseboard or of a switch tray; `{n}` in `id` counts."""

    id: str = "NVSwitch_{n}"
    chassis: str | None = None
    count: int = 0
    first: int = 0
    ports: int = 64
    model: str = "NVSwitch"
    part_number: str = "3003-886-A1"

    @property
    def ids(self) -> tuple[str, ...]:
        """One id for each."""
        return numbered(self.id, self.count, self.first)


class BmcPart(Part):
    """The manager."""

    id: str
    model: str
    reset_types: tuple[str, ...]


class ChassisPart(Part):
    """One chassis; the first one holds the system and has its serial number."""

    id: str
    type: str = "RackMount"
    model: str
    height_u: int | None = None
    inside: str | None = None  # id of the chassis that holds it; None: the first one


class Fans(Part):
    """Fans of the first chassis; at most `spare` of them may fail."""

    id: str = "FAN{n}"
    count: int = 10
    first: int = 1
    maximum_rpm: int = 16000
    spare: int = 1

    @property
    def ids(self) -> tuple[str, ...]:
        """One id for each."""
        return numbered(self.id, self.count, self.first)


class Supplies(Part):
    """Power supplies of the first chassis; at most `spare` of them may fail."""

    id: str = "{n}"
    name: str = "Power Supply {n}"
    count: int = 6
    first: int = 0
    watts: int = 3000
    manufacturer: str = "Delta"
    model: str = "ECD16020137"
    part_number: str = "PWS-3K01A-1R"
    spare: int = 2

    @property
    def ids(self) -> tuple[str, ...]:
        """One id for each."""
        return numbered(self.id, self.count, self.first)


class Physics(Part):
    """Heat and power of the box. `legacy`: has Power and Thermal; `subsystems`: PowerSubsystem and ThermalSubsystem."""

    inlet_celsius: float = 24.0
    idle_watts: int = 1400
    maximum_watts: int = 10200
    legacy: bool = True
    subsystems: bool = True


class Adapter(Part):
    """Network adapters of one model in the first chassis; `{n}` in `id` counts; `slot` is the first one's PCIe slot."""

    id: str
    count: int = 1
    first: int = 1
    manufacturer: str = "Mellanox Technologies"
    model: str = "MCX75310AAS-NEAT"
    part_number: str = "MCX75310AAS-NEAT"
    ports: int = 1
    protocol: Literal["Ethernet", "InfiniBand"] = "InfiniBand"
    gbps: int = 400
    slot: int | None = None

    @property
    def ids(self) -> tuple[str, ...]:
        """One id for each."""
        return numbered(self.id, self.count, self.first)


class Cycle(Part):
    """An OEM verb that cuts power: `target` is its URI, `parameter` and `value` what is posted.

    `kind` ac: the whole box with its BMC; aux: standby power of the board as well. `needs_off`: refused while on.
    """

    kind: Literal["ac", "aux"]
    owner: Literal["system", "chassis", "manager"]
    chassis: str | None = None
    action: str
    target: str
    parameter: str = "ResetType"
    value: str
    needs_off: bool = False


class Durations(Part):
    """Emulated seconds."""

    power_on: float
    power_off: float
    post: float
    bmc_reset: float
    boot_retry: float
    ac_off: float = 10


class Boot(Part):
    """Boot abilities. A network boot works only while the named BIOS attributes have the named values."""

    targets: tuple[str, ...]
    modes: tuple[str, ...] = ("UEFI",)
    http_boot_uri: bool
    order: tuple[str, ...] = ("Hdd", "Pxe")
    http_needs: dict[str, str | int | bool] = Field(default_factory=dict)
    pxe_needs: dict[str, str | int | bool] = Field(default_factory=dict)
