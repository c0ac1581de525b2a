"""What runs firmware, how it is flashed and how it becomes active."""

from collections.abc import Iterator
from typing import Literal

from emulator.persona.part import Part

Activation = Literal["none", "bmc_reset", "host_reset", "power_cycle"]


class Component(Part):
    """A component class: how its firmware is flashed and becomes active, and the newest version there is."""

    activation: Activation
    flash_seconds: float
    newest: str
    size_bytes: int = 65536


class Inventory(Part):
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


class Slot(Part):
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


def slots_of(entry: Inventory) -> Iterator[Slot]:
    for number in range(entry.first, entry.first + entry.count):
        identity = entry.id.replace("{n}", str(number))
        yield Slot(
            key=identity.replace("{version}", "*"),
            id=identity,
            name=entry.name.replace("{n}", str(number)),
            related=entry.related.replace("{n}", str(number)) if entry.related else None,
            **entry.model_dump(include={"component", "version", "updateable", "software_id"}),
        )
