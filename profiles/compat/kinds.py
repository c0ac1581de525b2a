"""The kinds of values that the facts and the questions about them are made of."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from profiles.fields import Whole

SourceKey = Annotated[str, StringConstraints(pattern=r"^S[1-9][0-9]*$")]
Sources = Annotated[tuple[SourceKey, ...], Field(min_length=1)]
DottedVersion = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,9}(\.[0-9]{1,9}){1,5}$")]
ToolkitRelease = Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+$")]
Prefix = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?$")]
Capability = Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]$")]
Month = Annotated[str, StringConstraints(pattern=r"^([0-9]{4}-(0[1-9]|1[0-2])|ended)$")]
Branch = Annotated[Whole, Field(ge=1, le=9999)]
Major = Annotated[Whole, Field(ge=1, le=99)]
Confidence = Literal["high", "medium", "low"]


class Standing(StrEnum):
    """What a type of branch is for."""

    STANDARD = "standard"
    EARLY_ACCESS = "early_access"
    NEVER = "never"


class OpenModules(StrEnum):
    """What a branch brings: no open kernel modules, open ones on request, by default, or no others."""

    NONE = "none"
    OPTIONAL = "optional"
    DEFAULT = "default"
    ONLY = "only"


class NeededModules(StrEnum):
    """Which kernel modules can drive an architecture."""

    PROPRIETARY_ONLY = "proprietary_only"
    EITHER = "either"
    OPEN_ONLY = "open_only"


class ModuleFlavour(StrEnum):
    """Which kernel modules are, or would be, installed."""

    OPEN = "open"
    PROPRIETARY = "proprietary"


class MemoryMode(StrEnum):
    """Who manages the memory of coherent GPUs: the driver (CDMM), or the system as NUMA nodes."""

    DRIVER = "driver"
    NUMA = "numa"


class Use(StrEnum):
    """What nodes are used with, as far as it decides about drivers."""

    MIG = "mig"
    GPUDIRECT_STORAGE = "gpudirect-storage"
    DMA_BUF = "dma-buf"
    PEERMEM = "peermem"
