"""Processors: CPUs and GPUs."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.boxes import gpu_label
from emulator.tree.document import HEALTHY, Document, Entry, action, collection, link, links, resource
from emulator.tree.gauges import gauge_of
from emulator.tree.places import SYSTEMS
from emulator.tree.sensors import quotes
from emulator.tree.systems import system_ids

_CPU = "Processor.v1_20_0.Processor"
_ENVIRONMENT = "EnvironmentMetrics.v1_3_0.EnvironmentMetrics"


def build(persona: Persona) -> Iterator[Entry]:
    """The processors of each system."""
    for system in system_ids(persona):
        path = f"{SYSTEMS}/{system}/Processors"
        shown = persona.gpus.place == "processors" and system == (persona.gpus.system or persona.system.id)
        cpus = places.shown_cpus(persona, system)
        members = [*cpus, *(persona.gpus.ids if shown else ())]
        yield collection(path, "ProcessorCollection", "Processors Collection", members)
        for number, cpu in enumerate(cpus):
            yield from _cpu(persona, number, f"{path}/{cpu}")
    if persona.gpus.place == "processors":
        for number, gpu in enumerate(places.gpus(persona)):
            yield from _gpu(persona, number, gpu)
    yield from _box_environment(persona)


def _cpu(persona: Persona, number: int, path: str) -> Iterator[Entry]:
    system = persona.system
    arm = persona.arch == "arm64"
    cpu = system.cpu_ids[number]
    properties = {
        "ProcessorType": "CPU",
        "ProcessorArchitecture": "ARM" if arm else "x86",
        "InstructionSet": "ARM-A64" if arm else "x86-64",
        "Manufacturer": "NVIDIA" if arm else system.cpu_manufacturer,
        "Model": system.cpu_model,
        **({"PartNumber": system.cpu_part} if system.cpu_part else {}),
        "SerialNumber": f"${{number:{cpu}}}",
        "TotalCores": system.cpu_cores,
        "TotalThreads": system.cpu_cores * (1 if arm else system.cpu_threads_per_core),
        "MaxSpeedMHz": system.cpu_mhz,
        "TDPWatts": system.cpu_watts,
        "MaxTDPWatts": system.cpu_watts,
        "Socket": cpu,
        "Location": {"PartLocation": {"LocationType": "Socket", "ServiceLabel": cpu}},
        "Status": HEALTHY,
        "EnvironmentMetrics": link(f"{path}/EnvironmentMetrics"),
        "Ports": link(f"{path}/Ports"),
        "Links": {"Chassis": link(places.cpu_chassis(persona)[number])},
    }
    yield resource(path, _CPU, "Processor", properties)
    yield collection(f"{path}/Ports", "PortCollection", "Port Collection", [])
    readings = quotes(
        TemperatureCelsius=gauge_of(persona, "cpu", "Temperature", number),
        PowerWatts=gauge_of(persona, "cpu", "Power", number),
    )
    yield resource(f"{path}/EnvironmentMetrics", _ENVIRONMENT, f"{cpu} Environment Metrics", readings)
    box = places.cpu_chassis(persona)[number]
    if box != places.outer(persona) and path.startswith(places.gpu_system(persona)):
        yield resource(f"{box}/EnvironmentMetrics", _ENVIRONMENT, f"{cpu} Environment Metrics", readings)


def _gpu(persona: Persona, number: int, path: str) -> Iterator[Entry]:
    gpus = persona.gpus
    gpu = gpus.ids[number]
    memory = places.gpu_memory(persona)
    properties: Document = {
        "ProcessorType": "GPU",
        "ProcessorArchitecture": "OEM",
        "TotalThreads": None,
        "Manufacturer": gpus.manufacturer,
        "Model": gpus.model,
        "PartNumber": gpus.part_number,
        "SerialNumber": f"${{number:{gpu}}}",
        "UUID": f"${{uuid:{gpu}}}",
        "FirmwareVersion": None,
        "MinSpeedMHz": gpus.minimum_mhz,
        "MaxSpeedMHz": gpus.maximum_mhz,
        "OperatingSpeedMHz": gpus.minimum_mhz,
        "Throttled": False,
        "ThrottleCauses": [],
        "SystemInterface": {"InterfaceType": "PCIe", "PCIe": _pcie(persona)},
        "MemorySummary": {
            "TotalMemorySizeMiB": gpus.memory_gib * 1024,
            "ECCModeEnabled": True,
            "Metrics": link(f"{path}/MemorySummary/MemoryMetrics"),
        },
        "Location": {"PartLocation": {"LocationType": "Slot", "ServiceLabel": gpu_label(persona, number)}},
        "Status": {**HEALTHY, "HealthRollup": "OK"},
        "Metrics": link(f"{path}/ProcessorMetrics"),
        "EnvironmentMetrics": link(f"{path}/EnvironmentMetrics"),
        "Ports": link(f"{path}/Ports"),
        "Links": {
            "Chassis": link(places.gpu_chassis(persona)[number]),
            "PCIeDevice": link(places.gpu_devices(persona)[number]),
            "PCIeFunctions": links([f"{places.gpu_devices(persona)[number]}/PCIeFunctions/0"]),
            **({"Memory": links([memory[number]])} if memory else {}),
        },
        "Actions": action(path, "Processor.Reset", ResetType=["ForceRestart"]),
    }
    yield resource(path, _CPU, "Processor", properties)
    yield from _gpu_metrics(persona, number, path)


def _pcie(persona: Persona) -> Document:
    kind = persona.gpus.pcie
    return {"PCIeType": kind, "MaxPCIeType": kind, "LanesInUse": 16, "MaxLanes": 16}


def _gpu_metrics(persona: Persona, number: int, path: str) -> Iterator[Entry]:
    gpu = persona.gpus.ids[number]
    errors = {"CorrectableECCErrorCount": 0, "UncorrectableECCErrorCount": 0}
    metrics = {
        "BandwidthPercent": None,
        "OperatingSpeedMHz": None,
        **quotes(CoreVoltage=gauge_of(persona, "gpu", "Voltage", number)),
        "CacheMetricsTotal": {"LifeTime": errors},
        "PCIeErrors": {
            "CorrectableErrorCount": 0,
            "FatalErrorCount": 0,
            "L0ToRecoveryCount": 0,
            "NAKReceivedCount": 0,
            "NAKSentCount": 0,
            "NonFatalErrorCount": 0,
            "ReplayCount": 0,
            "ReplayRolloverCount": 0,
        },
    }
    kind = "ProcessorMetrics.v1_6_0.ProcessorMetrics"
    yield resource(f"{path}/ProcessorMetrics", kind, f"{gpu} Processor Metrics", metrics)
    memory = {"BandwidthPercent": None, "CapacityUtilizationPercent": None, "LifeTime": errors}
    kind = "MemoryMetrics.v1_7_0.MemoryMetrics"
    yield resource(f"{path}/MemorySummary/MemoryMetrics", kind, f"{gpu} Memory Summary Metrics", memory)
    environment = _gpu_environment(persona, number)
    name = f"{gpu} Environment Metrics"
    yield resource(f"{path}/EnvironmentMetrics", _ENVIRONMENT, name, environment | {"PowerLimitWatts": _limit(persona)})
    if persona.gpus.chassis is not None:
        box = places.gpu_chassis(persona)[number]
        yield resource(f"{box}/EnvironmentMetrics", _ENVIRONMENT, name, environment)


def _gpu_environment(persona: Persona, number: int) -> Document:
    return quotes(
        TemperatureCelsius=gauge_of(persona, "gpu", "Temperature", number),
        PowerWatts=gauge_of(persona, "gpu", "Power", number),
        EnergyJoules=gauge_of(persona, "gpu", "EnergyJoules", number),
    )


def _limit(persona: Persona) -> Document:
    gpus = persona.gpus
    return {
        "SetPoint": gpus.maximum_watts,
        "DefaultSetPoint": gpus.maximum_watts,
        "AllowableMin": gpus.minimum_watts,
        "AllowableMax": gpus.maximum_watts,
        "ControlMode": "Automatic",
        "Reading": None,
        "@Redfish.WriteableProperties": ["SetPoint"],
    }


def _box_environment(persona: Persona) -> Iterator[Entry]:
    box = places.outer(persona)
    properties = quotes(
        TemperatureCelsius=gauge_of(persona, "inlet", "Temperature", 0),
        PowerWatts=gauge_of(persona, "box", "Power", 0),
        EnergyJoules=gauge_of(persona, "box", "EnergyJoules", 0),
    )
    if persona.physics.power_limit:
        properties["PowerLimitWatts"] = {
            "DataSourceUri": f"{box}/Controls/PowerLimit",
            "SetPoint": persona.physics.highest_limit_watts,
            "AllowableMin": persona.physics.idle_watts,
            "AllowableMax": persona.physics.highest_limit_watts,
            "ControlMode": "Automatic",
            "@Redfish.WriteableProperties": ["SetPoint"],
        }
    yield resource(f"{box}/EnvironmentMetrics", _ENVIRONMENT, "Chassis Environment Metrics", properties)
