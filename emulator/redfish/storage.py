"""Storage: volumes, which controllers without RAID cannot make."""

from emulator.redfish.errors import missing, not_found, not_in_list
from emulator.redfish.http import Request, Response
from emulator.redfish.router import Route
from emulator.tree.places import SYSTEMS


async def create_volume(request: Request) -> Response:
    """POST to Volumes: refused, the controllers of this storage support no RAID type. Raises RedfishError."""
    board = request.machine.board
    storage = request.path.rpartition("/")[0]
    if board.document(storage) is None:
        raise not_found(request.path)
    body = request.json()
    if "RAIDType" not in body:
        raise missing("RAIDType")
    raise not_in_list(body["RAIDType"], "RAIDType")


ROUTES = (Route(f"{SYSTEMS}/{{}}/Storage/{{}}/Volumes", post=create_volume),)
