"""Storage: one controller with the NVMe drives."""

from emulator.redfish.errors import not_found
from emulator.redfish.http import Request, Response, collection, link, ok
from emulator.redfish.router import Route
from emulator.redfish.systems import SYSTEMS, check_host

_CONTROLLER = "NVMe"
_HEALTHY = {"State": "Enabled", "Health": "OK"}


async def get_controllers(request: Request) -> Response:
    """The controllers."""
    check_host(request)
    return collection("StorageCollection", request.path, "Storage Collection", [_CONTROLLER])


async def get_controller(request: Request) -> Response:
    """The controller and its drives."""
    _check_controller(request)
    drives = range(request.machine.board.persona.system.drives)
    document = {
        "Id": _CONTROLLER,
        "Name": "NVMe Storage",
        "Drives": [link(f"{request.path}/Drives/{number}") for number in drives],
        "Drives@odata.count": len(drives),
        "Status": _HEALTHY,
    }
    return ok("Storage.v1_11_0.Storage", request.path, document)


async def get_drive(request: Request) -> Response:
    """One drive."""
    _check_controller(request)
    board = request.machine.board
    number = request.parameters[2]
    if not number.isdigit() or int(number) >= board.persona.system.drives:
        raise not_found(request.path)
    document = {
        "Id": number,
        "Name": f"NVMe Drive {number}",
        "MediaType": "SSD",
        "Protocol": "NVMe",
        "Model": board.persona.system.drive_model,
        "CapacityBytes": board.persona.system.drive_bytes,
        "SerialNumber": f"{int(board.uuid[-8:], 16):08X}{int(number):04}",
        "Status": _HEALTHY,
    }
    return ok("Drive.v1_13_0.Drive", request.path, document)


def _check_controller(request: Request) -> None:
    check_host(request)
    if request.parameters[1] != _CONTROLLER:
        raise not_found(request.path)


ROUTES = (
    Route(f"{SYSTEMS}/{{}}/Storage", get=get_controllers),
    Route(f"{SYSTEMS}/{{}}/Storage/{{}}", get=get_controller),
    Route(f"{SYSTEMS}/{{}}/Storage/{{}}/Drives/{{}}", get=get_drive),
)
