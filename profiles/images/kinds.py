"""The kinds of values that image profiles are made of."""

import ipaddress
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, WithJsonSchema

from profiles.fields import Whole
from profiles.problems import refuse


def _snapshot(value: Any) -> str:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) and value.endswith("Z") else None
    except ValueError:
        at = None
    if at is None or at < datetime(1990, 1, 1, tzinfo=UTC):
        raise refuse("is not a time in UTC", 'write it like "2026-11-29T00:00:00Z"')
    return str(value)


def _network(value: Any) -> str:
    try:
        return str(ipaddress.ip_network(value)) if isinstance(value, str) else _not_a_network()
    except ValueError as error:
        raise refuse(f"is not a network: {error}", "write it like 10.0.0.0/8 or fd00::/8") from error


def _not_a_network() -> str:
    raise refuse("is not a network", "write it like 10.0.0.0/8 or fd00::/8")


PackageName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9+.-]+$", max_length=128)]
PackageVersion = Annotated[str, StringConstraints(pattern=r"^([0-9]+:)?[0-9][A-Za-z0-9.+~-]*$", max_length=128)]
DriverVersion = Annotated[str, StringConstraints(pattern=r"^[0-9]{3}(\.[0-9]{1,4}){1,3}$")]
DriverBranch = Annotated[str, StringConstraints(pattern=r"^[0-9]{3}$")]
Snapshot = Annotated[str, BeforeValidator(_snapshot), WithJsonSchema({"type": "string", "format": "date-time"})]
Network = Annotated[str, BeforeValidator(_network), WithJsonSchema({"type": "string"})]
Port = Annotated[Whole, Field(ge=1, le=65535)]
UnixPath = Annotated[str, StringConstraints(pattern=r"^(/[A-Za-z0-9@_+][A-Za-z0-9@._+:-]*)+$", max_length=255)]
FileMode = Annotated[str, StringConstraints(pattern=r"^0[0-7]{3}$")]
UserName = Annotated[str, StringConstraints(pattern=r"^[a-z_][a-z0-9_-]{0,31}$")]
UnitName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9@._:-]+\.(service|socket|timer|path|target|mount)$", max_length=128)
]
KernelModule = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$", max_length=64)]
ModuleParameter = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]+$", max_length=64)]
KernelParameter = Annotated[str, StringConstraints(pattern=r'^[^\s="]+$', max_length=128)]
OneWord = Annotated[str, StringConstraints(pattern=r'^[^\s"]+$', max_length=256)]
MebiBytes = Annotated[Whole, Field(ge=1, le=2**20)]


class CoherentMemory(StrEnum):
    """Who manages the memory of coherent GPUs, always written: the driver (CDMM), the system, or there is none."""

    DRIVER = "driver"
    NUMA = "numa"
    NOT_APPLICABLE = "not_applicable"


class Protocol(StrEnum):
    """Transport protocols."""

    TCP = "tcp"
    UDP = "udp"


class Lockdown(StrEnum):
    """What the kernel refuses to its own root user."""

    NONE = "none"
    INTEGRITY = "integrity"
    CONFIDENTIALITY = "confidentiality"


class BootMethod(StrEnum):
    """How the first file gets to the machine."""

    UKI_HTTP = "uki_http"
    IPXE = "ipxe"


class Delivery(StrEnum):
    """Kernel modules come built in a package, or are built in a stage of their own for the kernel of the image."""

    PREBUILT = "prebuilt"
    STAGE = "stage"


class TestStage(StrEnum):
    """Where a test of an image runs."""

    BUILD = "build"
    BOOT = "boot"
    HARDWARE = "hardware"
