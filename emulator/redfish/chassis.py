"""Chassis: what is true of a box now."""

from emulator.machine.machine import Machine
from emulator.redfish.power_state import shown_power
from emulator.tree.document import Document


def show(machine: Machine, document: Document) -> None:
    """PowerState."""
    if "PowerState" in document:
        document["PowerState"] = shown_power(machine)
