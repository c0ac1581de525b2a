"""Managers: what is true of the BMC now, and its reset."""

from emulator.machine.machine import Machine
from emulator.redfish.reset import reset_manager
from emulator.redfish.router import Route
from emulator.tree.document import Document
from emulator.tree.managers import MANAGERS


def show(machine: Machine, document: Document) -> None:
    """FirmwareVersion of the host's BMC."""
    if document["Id"] == machine.board.persona.bmc.id:
        document["FirmwareVersion"] = machine.board.bmc_version


ROUTES = (Route(f"{MANAGERS}/{{}}/Actions/Manager.Reset", post=reset_manager),)
