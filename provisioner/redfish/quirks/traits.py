"""How a BMC may depart from the standard. The default of every field is the standard."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Traits:
    """Each field is read in exactly one place."""

    repeat_boot_mode: bool = False
    """Send BootSourceOverrideMode with every override, also when it already reads UEFI (`boot.py`)."""
    device_collection: tuple[str, ...] = ()
    """Where, below a chassis, an OEM collection lists its GPUs (`sweep.py`)."""
    write_protection_told: bool = True
    """WriteProtected of a firmware entry means what DSP0268 says (`inventory.py`)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a quirk may look at. Empty strings where the BMC does not say."""

    vendor: str
    product: str
    manufacturer: str
    model: str


@dataclass(frozen=True, slots=True)
class Quirk:
    """One departure, named by its symptom, with the public place where it is described."""

    name: str
    applies: Callable[[Facts], bool]
    change: Callable[[Traits], Traits]
    source: str
