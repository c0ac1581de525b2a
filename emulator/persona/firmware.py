"""What runs firmware, how it is flashed and how it becomes active."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import Field

from emulator.persona.part import Part

Activation = Literal["none", "bmc_reset", "host_reset", "power_cycle", "aux_cycle", "ac_cycle"]
SlotKind = Literal["current", "staged", "backup", "golden"]
AS_UPDATE = "as Update says"

ACTIVATED_BY: Mapping[str, frozenset[Activation]] = {
    "bmc_reset": frozenset({"bmc_reset"}),
    "host_reset": frozenset({"host_reset"}),
    "power_cycle": frozenset({"host_reset", "power_cycle"}),
    "aux_cycle": frozenset({"bmc_reset", "host_reset", "power_cycle", "aux_cycle"}),
    "ac_cycle": frozenset({"bmc_reset", "host_reset", "power_cycle", "aux_cycle", "ac_cycle"}),
}
"""What becomes active by which event: a stronger one does what the weaker ones do."""


class Component(Part):
    """A component class: how its firmware is flashed and becomes active, and the newest version there is.

    `dual_slot`: a flash goes to the slot that does not run; without, an interrupted one leaves nothing that runs.
    `background_copy_seconds`: how long the second slot is made equal to the first one after an activation; 0: never.
    `names`: how packages in the form of DSP0267 may call it, beside the name of the class.
    `sku`: what its devices tell packages of a whole board about themselves, eight hex digits (NVIDIA: APSKU, ECSKU).
    """

    activation: Activation
    flash_seconds: float
    newest: str
    size_bytes: int = 65536
    dual_slot: bool = True
    background_copy_seconds: float = 0
    runs_in_post: bool = False  # with apply time OnReset the host writes it during its next POST
    names: tuple[str, ...] = ()
    sku: str | None = Field(default=None, pattern=r"^[0-9a-f]{8}$")


class _Entry(Part):
    """What entries of the firmware inventory say.

    `slots`: ids of more entries of the same device, for the image that waits (staged), the one before (backup), the
    one of the factory (golden), and the running one again (current); `{hash}` in an id follows from the version.
    `slot_names`: what they are called where that does not follow from the name. `empty_slot`: what an entry says that
    holds no image, where that is not what Update.empty_slot says. `backup_filled`: the factory wrote the same version
    to the backup.
    """

    component: str
    id: str
    name: str
    version: str
    updateable: bool = True
    software_id: str | None = None
    related: str | None = None
    slots: dict[SlotKind, str] = Field(default_factory=dict)
    slot_names: dict[SlotKind, str] = Field(default_factory=dict)
    empty_slot: str | None = AS_UPDATE
    backup_filled: bool = False
    write_protected: bool | None = None
    manufacturer: str | None = None
    description: str | None = None


class Inventory(_Entry):
    """Entries of one kind; `{n}` in their texts counts from `first`, `{version}` is the running version."""

    count: int = 1
    first: int = 0


class Slot(_Entry):
    """One device that runs firmware; `key` never changes, the inventory id may hold the version."""

    key: str

    def inventory_id(self, version: str) -> str:
        """The id of its inventory entry while it runs `version`."""
        return _named(self.id, version)

    def slot_id(self, kind: SlotKind, version: str) -> str:
        """The id of the entry of another of its images."""
        return _named(self.slots[kind], version)


def slots_of(entry: Inventory) -> Iterator[Slot]:
    """The devices that an entry of a persona stands for."""
    counted = {"id", "name", "related", "slots", "count", "first"}
    for number in range(entry.first, entry.first + entry.count):
        identity = entry.id.replace("{n}", str(number))
        yield Slot(
            key=identity.replace("{version}", "*"),
            id=identity,
            name=entry.name.replace("{n}", str(number)),
            related=entry.related.replace("{n}", str(number)) if entry.related else None,
            slots={kind: pattern.replace("{n}", str(number)) for kind, pattern in entry.slots.items()},
            **entry.model_dump(exclude=counted),
        )


def _named(pattern: str, version: str) -> str:
    if "{hash}" in pattern:
        pattern = pattern.replace("{hash}", hashlib.sha256(version.encode()).hexdigest()[:8])
    return pattern.replace("{version}", version)
