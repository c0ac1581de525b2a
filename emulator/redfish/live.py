"""What is true now, written over the documents as they left the factory: by schema, one function each."""

from collections.abc import Callable, Mapping
from typing import Any

from emulator.machine.machine import Machine
from emulator.redfish import (
    bios,
    broken_parts,
    chassis,
    component_integrity,
    log_services,
    managers,
    metrics,
    part_versions,
    power,
    power_cuts,
    readings,
    secure_boot,
    systems,
    task_service,
    thermal,
    update_service,
    virtual_media,
    written,
)
from emulator.tree.document import Document

Show = Callable[[Machine, Document], None]

# `show` writes what changes only when something happens to the machine, `measure` what changes by itself with time.
SHOW: Mapping[str, Show] = {
    **part_versions.SHOW,
    "ActionInfo": systems.show_action_info,
    "Bios": bios.show,
    "Chassis": chassis.show,
    "ComputerSystem": systems.show,
    "Manager": managers.show,
    "Certificate": secure_boot.show_entry,
    "CertificateCollection": secure_boot.show_entries,
    "SecureBoot": secure_boot.show,
    "Signature": secure_boot.show_entry,
    "SignatureCollection": secure_boot.show_entries,
    "TrustedComponent": component_integrity.show_component,
    "UpdateService": update_service.show,
    "VirtualMedia": virtual_media.show,
}
MEASURE: Mapping[str, Show] = {
    "LogService": log_services.measure,
    "Control": readings.measure_quotes,
    "EnvironmentMetrics": power.measure_environment,
    "Fan": readings.measure_quotes,
    "JobService": task_service.measure,
    "Manager": managers.measure,
    "ManagerDiagnosticData": managers.measure_diagnostics,
    "MemoryMetrics": metrics.measure_memory,
    "PortMetrics": metrics.measure_port,
    "Power": power.measure_legacy,
    "PowerSupplyMetrics": readings.measure_quotes,
    "ProcessorMetrics": metrics.measure_processor,
    "Sensor": readings.measure_sensor,
    "TaskService": task_service.measure,
    "Thermal": thermal.measure_legacy,
    "ThermalMetrics": readings.measure_quotes,
}


# A recorded server keeps what was recorded of its sensors, logs and reports.
_LIVE_WHERE_RECORDED = (
    "Bios",
    "Certificate",
    "CertificateCollection",
    "Chassis",
    "ComputerSystem",
    "Manager",
    "SecureBoot",
    "Signature",
    "SignatureCollection",
    "TaskService",
    "UpdateService",
)


def show(machine: Machine, path: str) -> Document | None:
    """The resource at `path` without what changes by itself; None when there is none."""
    if broken_parts.is_absent(machine, path):
        return None
    document = machine.board.document(path)
    if document is None:
        return None
    function = SHOW.get(schema(document))
    if function and _is_live(machine, document):
        function(machine, document)
    power_cuts.hide(machine, path, document)
    written.show(machine, path, document)
    broken_parts.show(machine, path, document)
    return document


def measure(machine: Machine, document: Document) -> bool:
    """Write the measurements of this moment into `document`; False when it has none."""
    function = MEASURE.get(schema(document))
    if function is None or not _is_live(machine, document):
        return False
    function(machine, document)
    return True


def _is_live(machine: Machine, document: Document) -> bool:
    return not machine.board.kind.recorded or schema(document) in _LIVE_WHERE_RECORDED


def schema(document: Mapping[str, Any]) -> str:
    """`Chassis` for `#Chassis.v1_14_0.Chassis`; empty for what is no resource."""
    return str(document.get("@odata.type", "")).lstrip("#").partition(".")[0]
