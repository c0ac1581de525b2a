"""Firmware versions as the parts themselves show them; those of the inventory are the same."""

from collections.abc import Callable, Mapping

from emulator.machine.machine import Machine
from emulator.tree import places
from emulator.tree.document import Document
from emulator.tree.places import FABRICS


def show_gpu(machine: Machine, document: Document) -> None:
    """FirmwareVersion of a GPU, as a Processor or a PCIeDevice."""
    _show(machine, document, "gpu-vbios", places.gpus(machine.board.persona))
    _show(machine, document, "gpu-vbios", places.gpu_devices(machine.board.persona))


def show_switch(machine: Machine, document: Document) -> None:
    """FirmwareVersion and PowerState of an NVSwitch."""
    switches = machine.board.persona.nvswitches
    paths = tuple(f"{FABRICS}/{switches.fabric}/Switches/{switch}" for switch in switches.ids)
    _show(machine, document, "nvswitch", paths)
    if "PowerState" in document:
        document["PowerState"] = machine.host.power


def show_adapter(machine: Machine, document: Document) -> None:
    """FirmwarePackageVersion of the controllers of a network adapter."""
    persona = machine.board.persona
    found = tuple(f"{places.outer(persona)}/NetworkAdapters/{identity}" for identity, _ in places.adapters(persona))
    path = document["@odata.id"]
    if path in found:
        for controller in document.get("Controllers", []):
            controller["FirmwarePackageVersion"] = version_of(machine, "nic", found.index(path))


def version_of(machine: Machine, component: str, number: int) -> str | None:
    """The version that runs on the part with that number among those of its class; None: the inventory has none."""
    slots = [slot for slot in machine.board.persona.slots.values() if slot.component == component]
    return machine.board.version(slots[number].key) if number < len(slots) else None


def _show(machine: Machine, document: Document, component: str, paths: tuple[str, ...]) -> None:
    if "FirmwareVersion" in document and document["@odata.id"] in paths:
        document["FirmwareVersion"] = version_of(machine, component, paths.index(document["@odata.id"]))


SHOW: Mapping[str, Callable[[Machine, Document], None]] = {
    "NetworkAdapter": show_adapter,
    "PCIeDevice": show_gpu,
    "Processor": show_gpu,
    "Switch": show_switch,
}
