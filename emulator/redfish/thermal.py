"""Thermal, the old way to show temperatures and fans."""

from emulator.machine.machine import Machine
from emulator.redfish.readings import reading, status
from emulator.tree import places
from emulator.tree.document import Document
from emulator.tree.thermal import thermal_gauges


def measure_legacy(machine: Machine, document: Document) -> None:
    """Temperatures and fan speeds, in the order of the tree."""
    persona = machine.board.persona
    if document["@odata.id"] != f"{places.outer(persona)}/Thermal":
        return
    for gauge, entry in zip(thermal_gauges(persona), document.get("Temperatures", []), strict=False):
        if gauge.name == entry.get("Name"):
            entry["ReadingCelsius"] = machine.instruments.read(gauge)
            entry["Status"] = status(machine, gauge, entry["ReadingCelsius"])
    for number, fan in enumerate(document.get("Fans", [])):
        turns = reading(machine, "fan", "Rotational", number)
        fan["Reading"] = None if turns is None else int(turns)
