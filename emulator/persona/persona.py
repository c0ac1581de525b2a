"""A persona: how one kind of server looks and behaves."""

from functools import cached_property
from typing import Any, Literal

from emulator.persona.bios import Attribute, Bios
from emulator.persona.boot import Boot
from emulator.persona.firmware import Component, Inventory, Slot, slots_of
from emulator.persona.hardware import (
    Adapter,
    BaseboardBmc,
    BmcPart,
    ChassisPart,
    Cycle,
    Durations,
    Gpus,
    NvSwitches,
    System,
)
from emulator.persona.heat import Fans, Physics, SensorNames, Supplies
from emulator.persona.part import Part
from emulator.persona.secure_boot import SecureBootPart
from emulator.persona.service import Accounts, Expand, Log, Protocol, Root, Services, Sessions
from emulator.persona.update import Tasks, Update


class Persona(Part):
    """One kind of server. Shared by all machines of that kind."""

    name: str
    arch: Literal["x86_64", "arm64"]
    serial_pattern: str
    mac_prefix: str
    root: Root
    expand: Expand
    protocol: Protocol = Protocol()
    services: Services = Services()
    etag: Literal["none", "optional", "required"]
    system: System
    baseboard: str | None = None  # id of a second system, which holds the GPUs
    baseboard_cpus: bool = True  # the second system shows the CPUs and their memory too
    gpus: Gpus = Gpus()
    nvswitches: NvSwitches = NvSwitches()
    bmc: BmcPart
    baseboard_bmc: BaseboardBmc | None = None
    chassis: tuple[ChassisPart, ...]
    fans: Fans = Fans()
    supplies: Supplies = Supplies()
    physics: Physics = Physics()
    sensors: SensorNames = SensorNames()
    adapters: tuple[Adapter, ...] = ()
    cycles: tuple[Cycle, ...] = ()
    accounts: Accounts
    sessions: Sessions
    durations: Durations
    boot: Boot
    bios: Bios = Bios()
    secure_boot: SecureBootPart = SecureBootPart()
    update: Update
    tasks: Tasks = Tasks()
    components: dict[str, Component]
    firmware: tuple[Inventory, ...]

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """Every device that runs firmware, by its key."""
        return {slot.key: slot for entry in self.firmware for slot in slots_of(entry)}

    @cached_property
    def logs(self) -> tuple[Log, ...]:
        """The logs that there are; a baseboard and its BMC have one each, at least."""
        named = {log.owner for log in self.services.logs}
        there: dict[Literal["baseboard", "baseboard-manager"], bool] = {
            "baseboard": self.baseboard is not None,
            "baseboard-manager": self.baseboard_bmc is not None,
        }
        missing = (owner for owner, wanted in there.items() if wanted and owner not in named)
        return (*self.services.logs, *(Log(owner=owner, takes=("gpu",)) for owner in missing))

    @cached_property
    def factory_bios(self) -> dict[str, Attribute | None]:
        """The BIOS attributes as they leave the factory."""
        return {name: attribute.value for name, attribute in self.bios.attributes.items()}

    def model_post_init(self, _context: Any) -> None:
        """Refuse an inventory entry whose component class is not described."""
        for entry in self.firmware:
            if entry.component not in self.components:
                raise ValueError(f"{entry.id}: component class '{entry.component}' is not in components")
