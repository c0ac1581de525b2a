"""Systems: the host as a ComputerSystem, and the baseboard that holds the GPUs where there is one."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree.document import HEALTHY, ROOT, Document, Entry, action, collection, link, links, resource

SYSTEMS = f"{ROOT}/Systems"
SYSTEM = "ComputerSystem.v1_14_0.ComputerSystem"


def build(persona: Persona) -> Iterator[Entry]:
    """The systems; live properties (power, boot, versions) are filled in by redfish/systems.py."""
    yield collection(SYSTEMS, "ComputerSystemCollection", "Computer System Collection", system_ids(persona))
    yield _host(persona)
    if persona.baseboard:
        yield _baseboard(persona, persona.baseboard)


def system_ids(persona: Persona) -> tuple[str, ...]:
    """The ids of the systems, the host first."""
    return (persona.system.id, *((persona.baseboard,) if persona.baseboard else ()))


def _host(persona: Persona) -> Entry:
    system = persona.system
    path = f"{SYSTEMS}/{system.id}"
    parts = ["Processors", "Memory", "Storage", "EthernetInterfaces", "SecureBoot"]
    parts += ["Bios"] if persona.bios.attributes else []
    properties = {
        "SystemType": "Physical",
        "Manufacturer": system.manufacturer,
        "Model": system.model,
        "SKU": "${serial}" if system.sku == "{serial}" else system.sku,
        "PartNumber": system.part_number,
        "SerialNumber": "${serial}",
        "UUID": "${uuid}",
        "BiosVersion": "",
        "PowerState": "Off",
        "Status": HEALTHY,
        "BootProgress": {"LastState": "None"},
        "Boot": _boot(persona),
        **_summaries(persona),
        **{part: link(f"{path}/{part}") for part in parts},
        **_links(persona, persona.chassis[0].id),
        "Actions": action(path, "ComputerSystem.Reset", ResetType=system.reset_types),
    }
    return resource(path, SYSTEM, system.name, properties)


def _boot(persona: Persona) -> Document:
    boot = persona.boot
    document: Document = {
        "BootSourceOverrideTarget": "None",
        "BootSourceOverrideTarget@Redfish.AllowableValues": list(boot.targets),
        "BootSourceOverrideEnabled": "Disabled",
        "BootSourceOverrideEnabled@Redfish.AllowableValues": ["Once", "Continuous", "Disabled"],
        "BootSourceOverrideMode": boot.modes[-1],
        "BootSourceOverrideMode@Redfish.AllowableValues": list(boot.modes),
    }
    return document | ({"HttpBootUri": None} if boot.http_boot_uri else {})


def _baseboard(persona: Persona, identity: str) -> Entry:
    path = f"{SYSTEMS}/{identity}"
    properties = {
        "SystemType": "Physical",
        "Manufacturer": persona.gpus.manufacturer,
        "Model": persona.system.model,
        "PartNumber": persona.gpus.part_number,
        "SerialNumber": "${serial}0",
        "PowerState": "Off",
        "Status": HEALTHY,
        **_summaries(persona),
        "Processors": link(f"{path}/Processors"),
        "Memory": link(f"{path}/Memory"),
        **_links(persona, persona.chassis[-1].id),
    }
    return resource(path, SYSTEM, identity, properties)


def _summaries(persona: Persona) -> Document:
    system = persona.system
    count = len(system.cpu_ids)
    processors = {"Count": count, "Model": system.cpu_model, "CoreCount": system.cpu_cores * count}
    return {
        "ProcessorSummary": {**processors, "Status": HEALTHY},
        "MemorySummary": {"TotalSystemMemoryGiB": system.memory_gib, "Status": HEALTHY},
    }


def _links(persona: Persona, chassis: str) -> Document:
    managers = links([f"{ROOT}/Managers/{persona.bmc.id}"])
    return {"Links": {"Chassis": links([f"{ROOT}/Chassis/{chassis}"]), "ManagedBy": managers}}
