"""What is in the box: processors, GPUs, chassis, power, cooling, network adapters."""

from typing import Literal

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
    reset_info: Literal["none", "also", "only"] = "none"  # whether ResetActionInfo says which types there are
    version_pattern: str = "(.*)"
    asset_tag: str = ""
    serial_console: tuple[str, ...] = ()  # ways to the console; OCP's server profile fails with any
    serial_command: str = "cd system1/sol1; start"
    graphical_console: tuple[str, ...] = ("KVMIP",)
    trusted_module: Literal["TPM2_0", "none"] = "TPM2_0"
    memory_gib: int
    dimms: int
    dimm_id: str = "DIMM{n}"
    dimm_first: int = 1
    dimm_type: str = "DDR5"
    dimm_model: str = "M321R8GA0BB0-CQKZJ"
    dimm_manufacturer: str = "Samsung"
    dimm_mhz: int = 4800
    cpu_model: str
    cpu_manufacturer: str = "Intel(R) Corporation"
    cpu_ids: tuple[str, ...]
    cpu_cores: int
    cpu_threads_per_core: int = 2
    cpu_part: str = ""
    cpu_mhz: int = 3800  # MaxSpeedMHz
    cpu_watts: int = 350  # TDP of each
    cpu_chassis: str | None = None  # pattern of the id of the chassis of each; None: the first chassis
    storage_id: str = "NVMe"
    drive_id: str = "{n}"
    drive_chassis: str | None = None  # id of the chassis that holds the drives; None: the first one
    simple_storage: bool = True
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
    memory_id: str = "{gpu}_DRAM_0"
    memory_type: str = "HBM3"
    memory_mhz: int = 2619
    label: str | None = None  # pattern of what is printed at its place, `{n}` counts from `first`; None: its id
    board_part_number: str = "699-2G520-0200-400"
    idle_watts: int = 75
    minimum_watts: int = 200  # the least limit that may be set
    maximum_watts: int = 700
    maximum_celsius: int = 87
    minimum_mhz: int = 345
    maximum_mhz: int = 1980
    pcie: str = "Gen5"
    nvlinks: int = 18  # NVLink ports of each that the service shows; 0: an empty collection
    nvlink_gbps: float = 212.496
    pci_device: str = "0x2330"


class NvSwitches(Part):
    """NVSwitches of an HGX baseboard or of a switch tray; `{n}` in `id` counts."""

    id: str = "NVSwitch_{n}"
    chassis: str | None = None
    count: int = 0
    first: int = 0
    ports: int = 0  # ports of each that the service shows
    fabric: str = "HGX_NVLinkFabric_0"
    model: str = "NVSwitch"
    part_number: str = "3003-886-A1"
    idle_watts: int = 45
    maximum_watts: int = 100

    @property
    def ids(self) -> tuple[str, ...]:
        """One id for each."""
        return numbered(self.id, self.count, self.first)


class BmcPart(Part):
    """The manager. `inside` is the chassis that holds it, None: the first one."""

    id: str
    name: str = "Manager"
    description: str = "Baseboard Management Controller"
    type: str = "BMC"
    model: str
    reset_types: tuple[str, ...]
    port: str = "1"  # id of its Ethernet interface
    port_mbps: int = 1000
    host_interface: str | None = "1"  # id of its HostInterface
    reset_to_defaults: tuple[str, ...] = ("ResetAll",)
    diagnostics: bool = False  # ManagerDiagnosticData
    inside: str | None = None


class BaseboardBmc(Part):
    """The second manager, of the GPU baseboard, reached through the first; `component` is the firmware that it runs."""

    id: str = "HGX_BMC_0"
    model: str = "OpenBmc"
    reset_types: tuple[str, ...] = ("GracefulRestart", "ForceRestart")
    component: str = "hgx-bmc"
    port: str = "usb0"
    inside: str | None = None


class ChassisPart(Part):
    """One chassis; the first one holds the system and has its serial number."""

    id: str
    name: str | None = None  # None: its id
    type: str = "RackMount"
    manufacturer: str | None = None  # None: the system's
    model: str
    part_number: str | None = None  # None: the system's
    height_u: int | None = None
    label: str | None = None  # as printed at its place
    inside: str | None = None  # id of the chassis that holds it; None: the first one
    baseboard: bool = False  # it carries the GPUs and NVSwitches


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
    lanes: int = 16
    pcie: str = "Gen5"
    pci_device: str = "0x1021"
    slot: int | None = None
    nics: tuple[str, ...] = ()  # ids of the host's EthernetInterfaces that its ports are, in order

    @property
    def ids(self) -> tuple[str, ...]:
        """One id for each."""
        return numbered(self.id, self.count, self.first)


class Cycle(Part):
    """An OEM verb that cuts power: `target` is its URI, `parameter` and `value` what is posted.

    `kind` ac: the whole box with its BMC; aux: standby power of the board as well. `needs_off`: refused while on.
    `inside`: where the action stands in the document of its owner. A host that was on goes on again.
    """

    kind: Literal["ac", "aux"]
    owner: Literal["system", "chassis", "manager"]
    chassis: str | None = None
    action: str
    target: str
    parameter: str = "ResetType"
    value: str
    needs_off: bool = False
    inside: tuple[str, ...] = ("Actions", "Oem")
    keeps_bmc: bool = False  # the BMC keeps its power


class Durations(Part):
    """Emulated seconds."""

    power_on: float
    power_off: float
    post: float
    bmc_reset: float
    boot_retry: float
    ac_off: float = 10
    shutdown: float = 20  # how long an operating system takes to end
    initrd: float = 10  # from the start of a kernel to the first request of its initrd
