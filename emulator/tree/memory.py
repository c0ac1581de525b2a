"""Memory: the DIMMs, and what is on the GPUs."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import HEALTHY, Document, Entry, collection, link, links, resource
from emulator.tree.places import SYSTEMS
from emulator.tree.systems import system_ids

_KIND = "Memory.v1_20_0.Memory"


def build(persona: Persona) -> Iterator[Entry]:
    """The modules of each system, with their metrics."""
    for identity in system_ids(persona):
        system = f"{SYSTEMS}/{identity}"
        dimms = places.dimms(persona, identity)
        graphics = places.gpu_memory(persona) if system == places.gpu_system(persona) else ()
        yield collection(f"{system}/Memory", "MemoryCollection", "Memory Collection", [*dimms, *graphics])
        for number, dimm in enumerate(dimms):
            yield from _module(dimm, _dimm(persona, number, dimm))
        for number, path in enumerate(graphics):
            yield from _module(path, _graphics(persona, number))
        if identity == persona.system.id:
            yield _metrics(f"{system}/MemorySummary/MemoryMetrics", "Memory Summary Metrics")


def _module(path: str, properties: Document) -> Iterator[Entry]:
    metrics = f"{path}/MemoryMetrics"
    yield resource(path, _KIND, "Memory", {**properties, "Metrics": link(metrics), "Status": HEALTHY})
    yield _metrics(metrics, f"{path.rsplit('/', 1)[-1]} Memory Metrics")


def _dimm(persona: Persona, number: int, path: str) -> Document:
    system = persona.system
    name = path.rsplit("/", 1)[-1]
    sockets = max(1, len(system.cpu_ids))
    each = max(1, system.dimms // sockets)
    soldered = system.dimm_type.startswith("LPDDR")
    kind = "Embedded" if soldered else "Slot"
    place = {"Socket": number // each, "MemoryController": number % each // 2, "Channel": number % each, "Slot": 0}
    return {
        "MemoryType": "DRAM",
        "MemoryDeviceType": system.dimm_type,
        "BaseModuleType": "Die" if soldered else "RDIMM",
        "MemoryMedia": ["DRAM"],
        "CapacityMiB": system.memory_gib * 1024 // system.dimms,
        "ErrorCorrection": "MultiBitECC",
        "AllowedSpeedsMHz": [system.dimm_mhz],
        "OperatingSpeedMhz": system.dimm_mhz,
        "DataWidthBits": 64,
        "BusWidthBits": 80,
        "RankCount": 2,
        "Manufacturer": system.dimm_manufacturer,
        "PartNumber": system.dimm_model,
        "SerialNumber": f"${{hex:{name}}}",
        "MemoryLocation": place,
        "Location": {"PartLocation": {"LocationType": kind, "ServiceLabel": name}},
        "Enabled": True,
    }


def _graphics(persona: Persona, number: int) -> Document:
    gpus = persona.gpus
    return {
        "MemoryType": "DRAM",
        "MemoryDeviceType": gpus.memory_type,
        "MemoryMedia": ["DRAM"],
        "CapacityMiB": gpus.memory_gib * 1024,
        "ErrorCorrection": "SingleBitECC",
        "AllowedSpeedsMHz": [gpus.memory_mhz],
        "OperatingSpeedMhz": gpus.memory_mhz,
        "Manufacturer": gpus.manufacturer,
        "Location": {"PartLocation": {"LocationType": "Embedded", "ServiceLabel": gpus.ids[number]}},
        "Links": {
            "Chassis": link(places.gpu_chassis(persona)[number]),
            "Processors": links([places.gpus(persona)[number]]),
        },
    }


def _metrics(path: str, name: str) -> Entry:
    errors = {"CorrectableECCErrorCount": 0, "UncorrectableECCErrorCount": 0}
    properties = {
        "BandwidthPercent": None,
        "CapacityUtilizationPercent": None,
        "CurrentPeriod": errors,
        "LifeTime": errors,
        "HealthData": {"AlarmTrips": {"UncorrectableECCError": False, "CorrectableECCError": False}},
    }
    return resource(path, "MemoryMetrics.v1_7_0.MemoryMetrics", name, properties)
