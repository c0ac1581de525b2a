"""Counters and rates of GPUs, memory and ports."""

from emulator.machine.machine import Machine
from emulator.machine.thermals import IDLE, Span
from emulator.redfish.readings import measure_quotes
from emulator.tree import places
from emulator.tree.document import Document

_BUSY_PERCENT = 96.0  # of the bandwidth, at full load
_BYTES_PER_GBPS = 125_000_000


def measure_processor(machine: Machine, document: Document) -> None:
    """ProcessorMetrics of a GPU: speed and use."""
    measure_quotes(machine, document)
    number = _gpu_number(machine, document)
    if number is None:
        return
    if "OperatingSpeedMHz" in document:
        document["OperatingSpeedMHz"] = gpu_mhz(machine, number)
    _show_use(machine, document)


def gpu_mhz(machine: Machine, number: int) -> int | None:
    """The clock of a GPU; None while it has no power."""
    gpus = machine.board.persona.gpus
    if machine.host.heat.phase == "off":
        return None
    clock = Span(0, gpus.minimum_mhz, gpus.maximum_mhz * 0.97).at(max(IDLE, min(2.0, IDLE + 3 * _load(machine))))
    return round(min(clock, gpus.maximum_mhz * 0.45) if machine.instruments.throttled(number) else clock)


def measure_memory(machine: Machine, document: Document) -> None:
    """MemoryMetrics: use."""
    _show_use(machine, document)


def measure_port(machine: Machine, document: Document) -> None:
    """PortMetrics: bytes, as many as the load of the machine so far moves."""
    path = str(document["@odata.id"])
    gbps = machine.board.persona.gpus.nvlink_gbps if "/NVLink_" in path else 50.0
    _, load_seconds = machine.host.heat.worked
    moved = int(load_seconds * gbps * _BYTES_PER_GBPS * 0.6 * (1 + 0.05 * machine.host.heat.noise(path)))
    for name in ("RXBytes", "TXBytes"):
        if document.get(name) == 0:
            document[name] = moved


def _show_use(machine: Machine, document: Document) -> None:
    used = round(_BUSY_PERCENT * _load(machine), 1)
    for name in ("BandwidthPercent", "CapacityUtilizationPercent"):
        if name in document and document[name] is None:
            document[name] = used


def _load(machine: Machine) -> float:
    return max(0.0, machine.host.heat.power - IDLE)


def _gpu_number(machine: Machine, document: Document) -> int | None:
    path = str(document["@odata.id"])
    found = (number for number, gpu in enumerate(places.gpus(machine.board.persona)) if path.startswith(f"{gpu}/"))
    return next(found, None)
