"""Managers: what sushy-tools does not know about a BMC."""

from emulator.redfish.errors import not_found
from emulator.redfish.http import Request, Response, collection, ok
from emulator.redfish.reset import reset_manager
from emulator.redfish.router import Route

MANAGERS = "/redfish/v1/Managers"
_PORT = "1"


async def get_interfaces(request: Request) -> Response:
    """The network ports of the BMC."""
    _check(request)
    return collection("EthernetInterfaceCollection", request.path, "Ethernet Network Interface Collection", [_PORT])


async def get_interface(request: Request) -> Response:
    """The management port."""
    _check(request)
    if request.parameters[1] != _PORT:
        raise not_found(request.path)
    board = request.machine.board
    document = {
        "Id": _PORT,
        "Name": "Manager Ethernet Interface",
        "InterfaceEnabled": True,
        "MACAddress": board.mac(-1),
        "IPv4Addresses": [{"Address": board.entry.address, "SubnetMask": "255.0.0.0", "AddressOrigin": "DHCP"}],
        "Status": {"State": "Enabled", "Health": "OK"},
    }
    return ok("EthernetInterface.v1_6_0.EthernetInterface", request.path, document)


def _check(request: Request) -> None:
    if request.parameters[0] != request.machine.board.persona.bmc.id:
        raise not_found(request.path)


ROUTES = (
    Route(f"{MANAGERS}/{{}}/Actions/Manager.Reset", post=reset_manager),
    Route(f"{MANAGERS}/{{}}/EthernetInterfaces", get=get_interfaces),
    Route(f"{MANAGERS}/{{}}/EthernetInterfaces/{{}}", get=get_interface),
)
