"""Systems: the host as a ComputerSystem, and the baseboard that holds the GPUs where there is one."""

from typing import Any

from emulator.machine.board import Board
from emulator.redfish.boot import boot_document, change_boot
from emulator.redfish.errors import not_found, unknown_property
from emulator.redfish.http import Request, Response, collection, link, no_content, ok
from emulator.redfish.reset import reset_system
from emulator.redfish.router import Route

SYSTEMS = "/redfish/v1/Systems"
SYSTEM = "ComputerSystem.v1_14_0.ComputerSystem"
_HEALTHY = {"State": "Enabled", "Health": "OK"}


async def get_systems(request: Request) -> Response:
    """The systems of this BMC."""
    return collection("ComputerSystemCollection", SYSTEMS, "Computer System Collection", system_ids(request))


async def get_system(request: Request) -> Response:
    """The host, or the baseboard."""
    persona = request.machine.board.persona
    if request.parameters[0] == persona.baseboard:
        return ok(SYSTEM, request.path, _baseboard(request))
    check_host(request)
    return ok(SYSTEM, request.path, _host(request))


async def change_system(request: Request) -> Response:
    """PATCH Boot."""
    check_host(request)
    body = request.json(("Boot", "AssetTag", "IndicatorLED", "LocationIndicatorActive"))
    if "Boot" in body:
        change_boot(request.machine.board, body["Boot"])
    elif not body:
        raise unknown_property("(none)")
    return no_content()


def system_ids(request: Request) -> list[str]:
    """The ids of the systems, the host first."""
    persona = request.machine.board.persona
    return [persona.system.id, *([persona.baseboard] if persona.baseboard else [])]


def check_system(request: Request) -> str:
    """The id of the system in the path; raises RedfishError 404 when there is none."""
    if request.parameters[0] not in system_ids(request):
        raise not_found(request.path)
    return request.parameters[0]


def check_host(request: Request) -> None:
    """Raise RedfishError 404 unless the path is the host's."""
    if request.parameters[0] != request.machine.board.persona.system.id:
        raise not_found(request.path)


def _host(request: Request) -> dict[str, Any]:
    board = request.machine.board
    system = board.persona.system
    path = f"{SYSTEMS}/{system.id}"
    parts = ("Bios", "Processors", "Memory", "EthernetInterfaces", "Storage", "SecureBoot", "VirtualMedia")
    return {
        "Id": system.id,
        "Name": system.name,
        "SystemType": "Physical",
        "Manufacturer": system.manufacturer,
        "Model": system.model,
        "SKU": board.serial if system.sku == "{serial}" else system.sku,
        "PartNumber": system.part_number,
        "SerialNumber": board.serial,
        "UUID": board.uuid,
        "BiosVersion": board.bios_version,
        "PowerState": request.machine.host.power,
        "Status": _HEALTHY,
        "BootProgress": {"LastState": request.machine.host.progress},
        "Boot": boot_document(board),
        **_summaries(board),
        **{part: link(f"{path}/{part}") for part in parts},
        **_links(board, board.persona.chassis[0].id),
        "Actions": _actions(path, system.reset_types),
    }


def _baseboard(request: Request) -> dict[str, Any]:
    board = request.machine.board
    path = f"{SYSTEMS}/{board.persona.baseboard}"
    return {
        "Id": board.persona.baseboard,
        "Name": board.persona.baseboard,
        "SystemType": "Physical",
        "Manufacturer": board.persona.gpus.manufacturer,
        "Model": board.persona.system.model,
        "PartNumber": board.persona.gpus.part_number,
        "SerialNumber": f"{board.serial}0",
        "PowerState": request.machine.host.power,
        "Status": _HEALTHY,
        **_summaries(board),
        "Processors": link(f"{path}/Processors"),
        "Memory": link(f"{path}/Memory"),
        **_links(board, board.persona.chassis[-1].id),
    }


def _summaries(board: Board) -> dict[str, Any]:
    system = board.persona.system
    count = len(system.cpu_ids)
    processors = {"Count": count, "Model": system.cpu_model, "CoreCount": system.cpu_cores * count}
    return {
        "ProcessorSummary": {**processors, "Status": _HEALTHY},
        "MemorySummary": {"TotalSystemMemoryGiB": system.memory_gib, "Status": _HEALTHY},
    }


def _links(board: Board, chassis: str) -> dict[str, Any]:
    manager = link(f"/redfish/v1/Managers/{board.persona.bmc.id}")
    return {"Links": {"Chassis": [link(f"/redfish/v1/Chassis/{chassis}")], "ManagedBy": [manager]}}


def _actions(path: str, reset_types: tuple[str, ...]) -> dict[str, Any]:
    target = f"{path}/Actions/ComputerSystem.Reset"
    values = {"ResetType@Redfish.AllowableValues": list(reset_types)}
    return {"#ComputerSystem.Reset": {"target": target, **values}}


ROUTES = (
    Route(SYSTEMS, get=get_systems),
    Route(f"{SYSTEMS}/{{}}", get=get_system, patch=change_system),
    Route(f"{SYSTEMS}/{{}}/Actions/ComputerSystem.Reset", post=reset_system),
)
