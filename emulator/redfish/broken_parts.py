"""What is broken, missing or in the wrong place: the faults of parts, written into the resources that show them."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from emulator.faults.fault import Arguments
from emulator.machine.machine import Machine
from emulator.redfish import power_feeds
from emulator.tree import places
from emulator.tree.document import Document
from emulator.tree.gauges import gauges_of

Apply = Callable[[Machine, Arguments, str, Document], str]


def is_absent(machine: Machine, path: str) -> bool:
    """Whether a resource that there should be answers 404."""
    faults = machine.board.faults
    if not faults:
        return False
    lost = faults.peek("sensor-not-found")
    if lost and "/Sensors/" in path and str(lost["sensor"]) in path.rsplit("/", 1)[-1]:
        return True
    return any(path == gone or path.startswith(f"{gone}/") for gone in unseen(machine))


def unseen(machine: Machine) -> tuple[str, ...]:
    """The resources of the GPU that is not seen."""
    fault = machine.board.faults.peek("gpu-missing")
    persona = machine.board.persona
    number = int(fault["index"]) if fault else -1
    if not 0 <= number < len(persona.gpus.ids):
        return ()
    memory = places.gpu_memory(persona)[number : number + 1]
    own = places.gpu_chassis(persona)[number : number + 1] if persona.gpus.chassis else ()
    kinds = ("Temperature", "Power", "EnergyJoules", "Voltage")
    parts = [gauge for part in ("gpu", "gpu-memory") for kind in kinds for gauge in gauges_of(persona, part, kind)]
    sensors = tuple(gauge.path for gauge in parts if gauge.number == number)
    return (places.gpus(persona)[number], places.gpu_devices(persona)[number], *memory, *own, *sensors)


def show(machine: Machine, path: str, document: Document) -> None:
    """Write what is broken into the resource at `path`."""
    if machine.board.lost_feeds:
        power_feeds.show(machine, path, document)
    faults = machine.board.faults
    if not faults:
        return
    for name, apply in _APPLY.items():
        fault = faults.peek(name)
        if fault is not None:
            _ail(document, apply(machine, fault, path, document))
    gone = unseen(machine)
    if gone:
        _prune(document, gone)
    _roll_up(machine, document)


def _ail(document: Document, health: str) -> None:
    if health and isinstance(document.get("Status"), dict):
        document["Status"] = {**document["Status"], "Health": health}
        if "HealthRollup" in document["Status"]:
            document["Status"]["HealthRollup"] = health


def _of_gpu(machine: Machine, number: int, path: str) -> bool:
    """Whether the resource at `path` is that GPU: as processor, device or module."""
    persona = machine.board.persona
    if not 0 <= number < len(persona.gpus.ids):
        return False
    own = (places.gpu_chassis(persona)[number],) if persona.gpus.chassis else ()
    return path in (places.gpus(persona)[number], places.gpu_devices(persona)[number], *own)


def _gpu_degraded(machine: Machine, fault: Arguments, path: str, _document: Document) -> str:
    return str(fault["health"]) if _of_gpu(machine, int(fault["index"]), path) else ""


def _gpu_overheats(machine: Machine, fault: Arguments, path: str, _document: Document) -> str:
    return "Critical" if _of_gpu(machine, int(fault["index"]), path) else ""


def _gpu_throttled(machine: Machine, fault: Arguments, path: str, document: Document) -> str:
    if not _of_gpu(machine, int(fault["index"]), path):
        return ""
    if "Throttled" in document:
        document |= {"Throttled": True, "ThrottleCauses": ["ThermalLimit"]}
    return "Warning"


def _gpus_swapped(machine: Machine, fault: Arguments, path: str, document: Document) -> str:
    first, second = int(fault["first"]), int(fault["second"])
    for number, other in ((first, second), (second, first)):
        if _of_gpu(machine, number, path) and 0 <= other < len(machine.board.persona.gpus.ids):
            its = machine.board.document(places.gpus(machine.board.persona)[other]) or {}
            document |= {name: its[name] for name in ("SerialNumber", "UUID") if name in document and name in its}
    return ""


def _nvlink_down(machine: Machine, fault: Arguments, path: str, document: Document) -> str:
    gpus = places.gpus(machine.board.persona)
    number = int(fault["gpu"])
    if not 0 <= number < len(gpus) or path != f"{gpus[number]}/Ports/NVLink_{fault['link']}":
        return ""
    document |= {"LinkStatus": "LinkDown", "CurrentSpeedGbps": 0}
    return "Critical"


def _pcie_degraded(machine: Machine, fault: Arguments, path: str, document: Document) -> str:
    if not _of_gpu(machine, int(fault["index"]), path):
        return ""
    interface = document.get("PCIeInterface") or document.get("SystemInterface", {}).get("PCIe")
    if interface is None:
        return ""
    interface |= {"LanesInUse": int(fault["lanes"]), "PCIeType": str(fault["generation"])}
    return "Warning"


def _dimm_missing(machine: Machine, fault: Arguments, path: str, document: Document) -> str:
    persona = machine.board.persona
    dimms = places.dimms(persona, persona.system.id)
    number = int(fault["index"])
    if path == places.host(persona) and 0 <= number < len(dimms):
        summary = document.get("MemorySummary", {})
        summary["TotalSystemMemoryGiB"] = persona.system.memory_gib * (len(dimms) - 1) // len(dimms)
    if not 0 <= number < len(dimms) or path != dimms[number]:
        return ""
    kept = ("@odata.id", "@odata.type", "Id", "Name", "Location", "Metrics")
    empty: Document = {name: value for name, value in document.items() if name in kept}
    document.clear()
    document |= empty | {"Status": {"State": "Absent"}}
    return ""


def _memory_too_small(machine: Machine, fault: Arguments, path: str, document: Document) -> str:
    if path == places.host(machine.board.persona) and "MemorySummary" in document:
        document["MemorySummary"]["TotalSystemMemoryGiB"] = float(fault["gib"])
    return ""


def _drive_failed(machine: Machine, fault: Arguments, path: str, document: Document) -> str:
    drives = places.drives(machine.board.persona)
    number = int(fault["index"])
    if not 0 <= number < len(drives) or path != drives[number]:
        return ""
    document |= {"FailurePredicted": True, "PredictedMediaLifeLeftPercent": 0}
    return "Critical"


def _fan_failed(machine: Machine, fault: Arguments, path: str, document: Document) -> str:
    persona = machine.board.persona
    if path.endswith("/Thermal"):
        _ail_member(document.get("Fans", []), int(fault["index"]))
    for group in document.get("FanRedundancy", []):
        group["Status"] = {"State": "Enabled", "Health": "Warning"}
    return "Critical" if path in places.fans(persona)[int(fault["index"]) :][:1] else ""


def _supply_failed(machine: Machine, fault: Arguments, path: str, document: Document) -> str:
    persona = machine.board.persona
    if path.endswith("/Power"):
        _ail_member(document.get("PowerSupplies", []), int(fault["index"]))
    for group in document.get("PowerSupplyRedundancy", []):
        group["Status"] = {"State": "Enabled", "Health": "Warning"}
    if path not in places.supplies(persona)[int(fault["index"]) :][:1]:
        return ""
    if fault["how"] == "input-lost" and "LineInputStatus" in document:
        document["LineInputStatus"] = "LossOfInput"
    return "Critical"


def _leak_detected(machine: Machine, fault: Arguments, path: str, document: Document) -> str:
    detectors = places.leak_detectors(machine.board.persona)[int(fault["index"]) :][:1]
    if path in detectors:
        document["DetectorState"] = "Critical"
        return "Critical"
    for group in document.get("LeakDetectorGroups", []):
        for one in group["Detectors"]:
            if one["DataSourceUri"] in detectors:
                one["DetectorState"] = "Critical"
                group["Status"] = {"State": "Enabled", "Health": "Critical"}
                return "Critical"
    return ""


def _ail_member(members: list[Document], number: int) -> None:
    if 0 <= number < len(members):
        members[number]["Status"] = {"State": "Enabled", "Health": "Critical"}


_APPLY: Mapping[str, Apply] = {
    "gpu-degraded": _gpu_degraded,
    "gpu-overheats": _gpu_overheats,
    "gpu-throttled": _gpu_throttled,
    "gpus-swapped": _gpus_swapped,
    "nvlink-down": _nvlink_down,
    "pcie-degraded": _pcie_degraded,
    "dimm-missing": _dimm_missing,
    "memory-too-small": _memory_too_small,
    "drive-failed": _drive_failed,
    "fan-failed": _fan_failed,
    "supply-failed": _supply_failed,
    "leak-detected": _leak_detected,
}

_SEVERITY = {
    "gpu-overheats": "Critical",
    "gpu-throttled": "Warning",
    "nvlink-down": "Critical",
    "pcie-degraded": "Warning",
    "drive-failed": "Critical",
    "fan-failed": "Warning",
    "supply-failed": "Warning",
    "leak-detected": "Critical",
}


def _roll_up(machine: Machine, document: Document) -> None:
    """HealthRollup of the host and of the chassis that holds everything."""
    persona = machine.board.persona
    whole = (places.host(persona), places.outer(persona), places.gpu_system(persona))
    status = document.get("Status")
    if document.get("@odata.id") not in whole or not isinstance(status, dict) or "HealthRollup" not in status:
        return
    found = {_severity(machine, name) for name in (*_SEVERITY, "gpu-degraded")}
    if machine.board.lost_feeds and persona.supplies.count:
        found.add("Warning")
    status["HealthRollup"] = next((health for health in ("Critical", "Warning") if health in found), "OK")


def _severity(machine: Machine, name: str) -> str:
    fault = machine.board.faults.peek(name)
    return "" if fault is None else str(fault.get("health") or _SEVERITY.get(name, ""))


def _prune(value: Any, gone: tuple[str, ...]) -> None:
    """Take out of lists the links to what is not there."""
    for part in list(_parts(value)):
        _prune(part, gone)
    if isinstance(value, dict):
        if "Members" in value:
            value["Members"] = _kept(value["Members"], gone)
            value["Members@odata.count"] = len(value["Members"])
        for name, part in value.items():
            if isinstance(part, list):
                value[name] = _kept(part, gone)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _kept(members: list[Any], gone: tuple[str, ...]) -> list[Any]:
    def leads_there(member: Any) -> bool:
        path = str(member.get("@odata.id", "")) if isinstance(member, dict) else ""
        return any(path == one or path.startswith(f"{one}/") for one in gone)

    return [member for member in members if not leads_there(member)]
