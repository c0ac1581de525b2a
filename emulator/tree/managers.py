"""Managers: the BMC, that of the GPU baseboard where there is one, and their network."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.boxes import boxes
from emulator.tree.document import HEALTHY, Document, Entry, action, collection, link, links, resource
from emulator.tree.manager_network import host_interface, network
from emulator.tree.places import CHASSIS, MANAGERS

_MANAGER = "Manager.v1_19_0.Manager"


def build(persona: Persona) -> Iterator[Entry]:
    """The managers with their ports, protocols and interfaces to the host."""
    second = persona.baseboard_bmc
    ids = [persona.bmc.id, *([second.id] if second else [])]
    yield collection(MANAGERS, "ManagerCollection", "Manager Collection", ids)
    yield _bmc(persona)
    yield from network(persona, places.bmc(persona), persona.bmc.port, outward=True)
    if persona.bmc.host_interface:
        yield from host_interface(persona, persona.bmc.host_interface)
    if persona.bmc.diagnostics:
        yield _diagnostics(places.bmc(persona))
    if second:
        yield _second(persona)
        yield from network(persona, places.gpu_manager(persona), second.port, outward=False)


def _bmc(persona: Persona) -> Entry:
    path, bmc = places.bmc(persona), persona.bmc
    parts = ["EthernetInterfaces", "NetworkProtocol"]
    parts += ["HostInterfaces"] if bmc.host_interface else []
    parts += ["ManagerDiagnosticData"] if bmc.diagnostics else []
    actions = action(path, "Manager.Reset", ResetType=bmc.reset_types)
    if bmc.reset_to_defaults:
        actions |= action(path, "Manager.ResetToDefaults", ResetType=bmc.reset_to_defaults)
    properties = {
        "ManagerType": bmc.type,
        "Description": bmc.description,
        "UUID": "${uuid:manager}",
        "ServiceEntryPointUUID": "${uuid}",
        "Model": bmc.model,
        **_clock(),
        "CommandShell": {"ServiceEnabled": True, "MaxConcurrentSessions": 4, "ConnectTypesSupported": ["SSH"]},
        "GraphicalConsole": {"ServiceEnabled": True, "MaxConcurrentSessions": 4, "ConnectTypesSupported": ["KVMIP"]},
        **{part: link(f"{path}/{part}") for part in parts},
        "Links": _links(persona, path, bmc.inside or persona.chassis[0].id),
        "Actions": actions,
    }
    return resource(path, _MANAGER, bmc.name, properties)


def _second(persona: Persona) -> Entry:
    path, bmc = places.gpu_manager(persona), persona.baseboard_bmc
    assert bmc  # noqa: S101  (whoever calls has looked)
    properties = {
        "ManagerType": "BMC",
        "Description": "Baseboard Management Controller of the GPUs",
        "UUID": f"${{uuid:manager {bmc.id}}}",
        "ServiceEntryPointUUID": f"${{uuid:service {bmc.id}}}",
        "Model": bmc.model,
        **_clock(),
        **{part: link(f"{path}/{part}") for part in ("EthernetInterfaces", "NetworkProtocol")},
        "Links": _links(persona, path, bmc.inside or places.gpu_board(persona).id),
        "Actions": action(path, "Manager.Reset", ResetType=bmc.reset_types),
    }
    return resource(path, _MANAGER, "HGX Manager", properties)


def _clock() -> Document:
    return {
        "FirmwareVersion": "",
        "DateTime": "1970-01-01T00:00:00+00:00",
        "DateTimeLocalOffset": "+00:00",
        "LastResetTime": "1970-01-01T00:00:00+00:00",
        "PowerState": "On",
        "LocationIndicatorActive": False,
        "Status": HEALTHY,
    }


def _links(persona: Persona, manager: str, chassis: str) -> Document:
    managed = [box for box in boxes(persona) if box.manager == manager]
    hosts = [places.host(persona)] if manager == places.bmc(persona) else []
    hosts += [places.gpu_system(persona)] if manager == places.gpu_manager(persona) else []
    return {
        "ManagerForServers": links(dict.fromkeys(hosts)),
        "ManagerForChassis": links(box.path for box in managed),
        "ManagerInChassis": link(f"{CHASSIS}/{chassis}"),
    }


def _diagnostics(path: str) -> Entry:
    properties = {
        "ServiceRootUptimeSeconds": 0,
        "ProcessorStatistics": {"KernelPercent": 7.0, "UserPercent": 11.0},
        "MemoryStatistics": {"TotalBytes": 1_041_367_040, "AvailableBytes": 603_979_776},
        "FreeStorageSpaceKiB": 1_572_864,
    }
    kind = "ManagerDiagnosticData.v1_2_0.ManagerDiagnosticData"
    return resource(f"{path}/ManagerDiagnosticData", kind, "Manager Diagnostic Data", properties)
