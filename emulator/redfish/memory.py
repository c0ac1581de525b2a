"""Memory: the DIMMs."""

from emulator.redfish.errors import not_found
from emulator.redfish.http import Request, Response, collection, ok
from emulator.redfish.router import Route
from emulator.redfish.systems import SYSTEMS, check_system


async def get_modules(request: Request) -> Response:
    """The DIMMs of a system."""
    check_system(request)
    members = [f"DIMM{number}" for number in range(1, request.machine.board.persona.system.dimms + 1)]
    return collection("MemoryCollection", request.path, "Memory Collection", members)


async def get_module(request: Request) -> Response:
    """One DIMM."""
    check_system(request)
    board = request.machine.board
    system = board.persona.system
    number = request.parameters[1].removeprefix("DIMM")
    if not number.isdigit() or not 1 <= int(number) <= system.dimms:
        raise not_found(request.path)
    document = {
        "Id": request.parameters[1],
        "Name": "Memory",
        "MemoryType": "DRAM",
        "CapacityMiB": system.memory_gib * 1024 // system.dimms,
        "SerialNumber": f"{int(board.uuid[:8], 16):08X}{int(number):02}",
        "DeviceLocator": request.parameters[1],
        "Status": {"State": "Enabled", "Health": "OK"},
    }
    return ok("Memory.v1_14_0.Memory", request.path, document)


ROUTES = (
    Route(f"{SYSTEMS}/{{}}/Memory", get=get_modules),
    Route(f"{SYSTEMS}/{{}}/Memory/{{}}", get=get_module),
)
