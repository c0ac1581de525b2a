"""Processors: which GPUs are seen."""

from emulator.machine.machine import Machine
from emulator.tree.document import Document
from emulator.tree.systems import SYSTEMS


def missing(machine: Machine) -> tuple[str, ...]:
    """The paths of the GPUs that are not seen."""
    fault = machine.board.faults.peek("gpu-missing")
    gpus = machine.board.persona.gpus
    if not fault or not 0 <= int(fault["index"]) < len(gpus.ids):
        return ()
    return (f"{SYSTEMS}/{gpus.system}/Processors/{gpus.ids[int(fault['index'])]}",)


def show_collection(machine: Machine, document: Document) -> None:
    """Without the GPUs that are not seen."""
    gone = missing(machine)
    document["Members"] = [member for member in document["Members"] if member["@odata.id"] not in gone]
    document["Members@odata.count"] = len(document["Members"])
