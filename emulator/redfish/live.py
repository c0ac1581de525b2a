"""What is true now, written over the documents as they left the factory: by schema, one function each."""

from collections.abc import Callable, Mapping
from typing import Any

from emulator.machine.machine import Machine
from emulator.redfish import (
    bios,
    chassis,
    managers,
    processors,
    secure_boot,
    systems,
    task_service,
    update_service,
    written,
)
from emulator.tree.document import Document

Show = Callable[[Machine, Document], None]

# `show` writes what changes only when something happens to the machine, `measure` what changes by itself with time.
SHOW: Mapping[str, Show] = {
    "Bios": bios.show,
    "Chassis": chassis.show,
    "ComputerSystem": systems.show,
    "Manager": managers.show,
    "ProcessorCollection": processors.show_collection,
    "SecureBoot": secure_boot.show,
    "UpdateService": update_service.show,
}
MEASURE: Mapping[str, Show] = {
    "JobService": task_service.measure,
    "TaskService": task_service.measure,
}


def show(machine: Machine, path: str) -> Document | None:
    """The resource at `path` without what changes by itself; None when there is none."""
    if path in processors.missing(machine):
        return None
    document = machine.board.document(path)
    if document is None:
        return None
    function = SHOW.get(schema(document))
    if function:
        function(machine, document)
    written.show(machine, path, document)
    return document


def measure(machine: Machine, document: Document) -> bool:
    """Write the measurements of this moment into `document`; False when it has none."""
    function = MEASURE.get(schema(document))
    if function:
        function(machine, document)
    return function is not None


def schema(document: Mapping[str, Any]) -> str:
    """`Chassis` for `#Chassis.v1_14_0.Chassis`; empty for what is no resource."""
    return str(document.get("@odata.type", "")).lstrip("#").partition(".")[0]
