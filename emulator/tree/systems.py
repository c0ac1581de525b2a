"""Systems: the host as a ComputerSystem, and the baseboard that holds the GPUs where there is one."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.boot import boot_properties, reset_action
from emulator.tree.document import HEALTHY, Document, Entry, collection, link, links, resource
from emulator.tree.pcie import devices

SYSTEM = "ComputerSystem.v1_18_0.ComputerSystem"
_PORTS = {"SSH": 22, "IPMI": 623, "Telnet": 23}


def build(persona: Persona) -> Iterator[Entry]:
    """The systems; live properties (power, boot, versions) are filled in by redfish/systems.py."""
    yield collection(places.SYSTEMS, "ComputerSystemCollection", "Computer System Collection", system_ids(persona))
    yield _host(persona)
    if persona.baseboard:
        yield _baseboard(persona, persona.baseboard)


def system_ids(persona: Persona) -> tuple[str, ...]:
    """The ids of the systems, the host first."""
    return (persona.system.id, *((persona.baseboard,) if persona.baseboard else ()))


def _host(persona: Persona) -> Entry:
    system = persona.system
    path = places.host(persona)
    parts = ["Processors", "Memory", "Storage", "SecureBoot"]
    parts += ["EthernetInterfaces"] if system.nics else []
    parts += ["Bios"] if persona.bios.attributes else []
    parts += ["SimpleStorage"] if system.simple_storage else []
    parts += ["NetworkInterfaces"] if persona.adapters else []
    properties = {
        "SystemType": "Physical",
        "Description": "The host",
        "AssetTag": system.asset_tag,
        "Manufacturer": system.manufacturer,
        "Model": system.model,
        "SKU": "${serial}" if system.sku == "{serial}" else system.sku,
        "PartNumber": system.part_number,
        "SerialNumber": "${serial}",
        "UUID": "${uuid}",
        "HostName": "",
        "BiosVersion": "",
        "PowerState": "Off",
        "PowerRestorePolicy": "LastState",
        "LastResetTime": "1970-01-01T00:00:00+00:00",
        "IndicatorLED": "Off",
        "LocationIndicatorActive": False,
        "Status": {**HEALTHY, "HealthRollup": "OK"},
        "BootProgress": {"LastState": "None"},
        "Boot": boot_properties(persona),
        **_consoles(persona),
        **_trusted_modules(persona),
        **_summaries(persona, path),
        **{part: link(f"{path}/{part}") for part in parts},
        "PCIeDevices": links(_devices(persona, path)),
        **_links(persona, persona.chassis[0].id),
        "Actions": reset_action(persona),
    }
    return resource(path, SYSTEM, system.name, properties)


def _consoles(persona: Persona) -> Document:
    system = persona.system
    serial = {
        way: {
            "ServiceEnabled": True,
            "Port": _PORTS[way],
            **({"SharedWithManagerCLI": True, "ConsoleEntryCommand": system.serial_command} if way == "SSH" else {}),
        }
        for way in system.serial_console
    }
    graphical = {"ServiceEnabled": True, "MaxConcurrentSessions": 4, "ConnectTypesSupported": []}
    return {
        **({"SerialConsole": {"MaxConcurrentSessions": 1, **serial}} if serial else {}),
        **(
            {"GraphicalConsole": {**graphical, "ConnectTypesSupported": list(system.graphical_console)}}
            if system.graphical_console
            else {}
        ),
    }


def _trusted_modules(persona: Persona) -> Document:
    kind = persona.system.trusted_module
    if kind == "none":
        return {}
    module = {"InterfaceType": kind, "FirmwareVersion": "7.2.3.1", "Status": {"State": "Enabled", "Health": "OK"}}
    return {"TrustedModules": [module]}


def _devices(persona: Persona, system: str) -> list[str]:
    return [one.path for held in devices(persona).values() for one in held if one.system == system]


def _baseboard(persona: Persona, identity: str) -> Entry:
    path = f"{places.SYSTEMS}/{identity}"
    properties = {
        "SystemType": "Physical",
        "Description": "The baseboard of the GPUs",
        "AssetTag": "",
        "Manufacturer": persona.gpus.manufacturer,
        "Model": persona.system.model,
        "PartNumber": persona.gpus.part_number,
        "SKU": persona.gpus.part_number,
        "SerialNumber": "${serial}0",
        "UUID": "${uuid:baseboard}",
        "PowerState": "Off",
        "Status": {**HEALTHY, "HealthRollup": "OK"},
        **_summaries(persona, path),
        "Processors": link(f"{path}/Processors"),
        "Memory": link(f"{path}/Memory"),
        "PCIeDevices": links(_devices(persona, path)),
        **_links(persona, places.gpu_board(persona).id, places.gpu_manager(persona)),
    }
    return resource(path, SYSTEM, identity, properties)


def _summaries(persona: Persona, path: str) -> Document:
    system = persona.system
    count = len(places.shown_cpus(persona, path.rsplit("/", 1)[-1]))
    threads = 1 if persona.arch == "arm64" else system.cpu_threads_per_core
    processors = {
        "Count": count,
        "Model": system.cpu_model,
        "CoreCount": system.cpu_cores * count,
        "LogicalProcessorCount": system.cpu_cores * count * threads,
    }
    metrics = f"{path}/MemorySummary/MemoryMetrics"
    gib = system.memory_gib if persona.baseboard_cpus or path == places.host(persona) else _graphics_gib(persona)
    memory: Document = {"TotalSystemMemoryGiB": gib, "MemoryMirroring": "None"}
    if path == places.host(persona):
        memory["Metrics"] = link(metrics)
    return {"ProcessorSummary": processors, "MemorySummary": memory}


def _graphics_gib(persona: Persona) -> int:
    return persona.gpus.memory_gib * len(persona.gpus.ids)


def _links(persona: Persona, chassis: str, manager: str = "") -> Document:
    managers = links([manager or places.bmc(persona)])
    return {"Links": {"Chassis": links([f"{places.CHASSIS}/{chassis}"]), "ManagedBy": managers}}
