"""Processors: the reset of a GPU."""

from emulator.machine.machine import Machine
from emulator.redfish.errors import RedfishError, action_value, not_found
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.router import Route
from emulator.tree.places import SYSTEMS

_ACTION = "Processor.Reset"


async def reset(request: Request) -> Response:
    """Processor.Reset: a GPU starts again; it has to have power. Raises RedfishError."""
    path = request.path.rpartition("/Actions/")[0]
    document = request.machine.board.document(path) or {}
    entry = document.get("Actions", {}).get(f"#{_ACTION}")
    if entry is None:
        raise not_found(request.path)
    wanted = request.text(request.json(("ResetType",)), "ResetType")
    if wanted not in entry.get("ResetType@Redfish.AllowableValues", ()):
        raise action_value(wanted, "ResetType", _ACTION)
    _check_power(request.machine)
    return no_content()


def _check_power(machine: Machine) -> None:
    if machine.host.power != "On":
        text = f"The action {_ACTION} cannot be done while the system is off."
        raise RedfishError(409, "ResourceInStandby", text)


ROUTES = (Route(f"{SYSTEMS}/{{}}/Processors/{{}}/Actions/{_ACTION}", post=reset),)
