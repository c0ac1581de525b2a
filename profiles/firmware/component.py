"""One class of firmware component, resolved: the version that should run, and everything known about getting there."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from profiles.fields import (
    ExtractPattern,
    Glob,
    Hexadecimal,
    Name,
    Number,
    Profile,
    RelativeFile,
    Sha256,
    Text,
    Whole,
)


class Activation(StrEnum):
    """What makes staged firmware the running one; each does what the ones before it do, but for BMC_RESET."""

    NONE = "none"
    BMC_RESET = "bmc_reset"
    HOST_RESET = "host_reset"
    POWER_CYCLE = "power_cycle"
    """The host off and on."""
    AUX_CYCLE = "aux_cycle"
    """Standby power of the board off and on; its BMC restarts."""
    AC_CYCLE = "ac_cycle"
    """The mains of the whole box off and on, as if its cords were pulled."""


class Scheme(StrEnum):
    """How the order of two versions is read from their text, where the catalog does not list them."""

    NONE = "none"
    DOTTED_DECIMAL = "dotted_decimal"
    DOTTED_HEX = "dotted_hex"


class Transport(StrEnum):
    """How a package gets to the BMC."""

    SIMPLE_UPDATE = "simple_update"
    MULTIPART = "multipart"
    HTTP_PUSH = "http_push"


class Domain(StrEnum):
    """What an activation takes down beside the node itself: all nodes with the same name of this domain."""

    NODE = "node"
    TRAY = "tray"
    CHASSIS = "chassis"
    POWER = "power"


class Artefact(Profile):
    """A file by its content; `file` is its path below the folder of firmware files."""

    file: RelativeFile
    sha256: Sha256
    size_bytes: Annotated[Whole, Field(ge=1)]


class FirmwareRelease(Profile):
    """One version of a component. `requires`: the older version that has to run first (a stepping stone).

    `irreversible`: once it runs, the device refuses every older one (security revision, comparison stamp).
    """

    version: Text
    artefact: Artefact
    requires: Text | None = None
    irreversible: bool = False
    comparison_stamp: Annotated[Whole, Field(ge=0, le=0xFFFFFFFF)] | None = None


class PackagePart(Profile):
    """What a package in the form of DSP0267 has to say to be for a component class.

    `identifier`: of its component image. `descriptors`: of the device, in hexadecimal as people write it; by type
    (`iana_enterprise`, `pci_vendor`, `pci_device`, `pci_subsystem_vendor`, `pci_subsystem`, `uuid`), and any other name
    is the title of a vendor-defined one, such as NVIDIA's `APSKU`, whose bytes are written in their order.
    """

    identifier: Annotated[Whole, Field(ge=0, le=0xFFFF)] | None = None
    descriptors: dict[Text, Hexadecimal] = Field(default_factory=dict)


class ComponentFacts(Profile):
    """What holds for every version of a component class.

    `inventory`: globs over FirmwareInventory ids; `names`: globs over their Name; where any are given, one has to fit
    as well: HPE numbers its ids as the parts come. `extract` takes the comparable version out of what the BMC
    reports, for strings such as `BIOS Date: 08/04/2023 Ver 1.4`. `targets`: what the update names as Targets: the
    inventory entries of the parts that are behind, no Targets at all (absent), an empty list, or these resources.
    Components of one stage with the same file and the same targets are one update. `transports`: only these, in this
    order; empty: whatever the BMC advertises. `after`: components that run their version before this one is flashed.
    `oem`: sent as OemParameters with a push, such as the preserve flags of Supermicro. `floor`: what is older is
    urgent. `pldm`: what its packages have to say, where they are of that form; looked at before one is sent.
    """

    component: Name
    inventory: Annotated[tuple[Glob, ...], Field(min_length=1)]
    names: tuple[Glob, ...] = ()
    extract: ExtractPattern | None = None
    scheme: Scheme = Scheme.NONE
    activation: Activation
    expected_minutes: Annotated[Number, Field(gt=0, le=24 * 60)]
    activation_minutes: Annotated[Number, Field(gt=0, le=24 * 60)] | None = None
    domain: Domain = Domain.NODE
    targets: Literal["parts", "absent", "empty"] | tuple[Text, ...] = "parts"
    transports: tuple[Transport, ...] = ()
    after: tuple[Name, ...] = ()
    oem: dict[str, Any] = Field(default_factory=dict)
    floor: Text | None = None
    pldm: PackagePart | None = None


class FirmwareComponent(ComponentFacts):
    """A component class at the version that should run. `releases`: all that the catalog lists, oldest first."""

    version: Text
    artefact: Artefact
    releases: tuple[FirmwareRelease, ...] = ()
