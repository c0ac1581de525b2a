"""Power of the box: what it draws, and the limit that may be set in two places."""

from emulator.machine.machine import Machine
from emulator.redfish import written
from emulator.redfish.errors import not_found
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.readings import measure_quotes, reading
from emulator.redfish.router import Route
from emulator.tree import places
from emulator.tree.document import Document
from emulator.tree.places import CHASSIS


def measure_legacy(machine: Machine, document: Document) -> None:
    """Power: what the box draws and what each supply gives."""
    if document["@odata.id"] != f"{places.outer(machine.board.persona)}/Power":
        return
    drawn = reading(machine, "box", "Power", 0)
    watts = None if drawn is None else round(drawn)
    for control in document.get("PowerControl", [])[:1]:
        control["PowerConsumedWatts"] = watts
        if "PowerMetrics" in control:
            names = ("MinConsumedWatts", "MaxConsumedWatts", "AverageConsumedWatts")
            control["PowerMetrics"] |= dict.fromkeys(names, watts)
        if "PowerLimit" in control:
            control["PowerLimit"]["LimitInWatts"] = round(machine.instruments.box_limit())
    for number, supply in enumerate(document.get("PowerSupplies", [])):
        given = reading(machine, "supply-output", "Power", number)
        supply["PowerInputWatts"] = reading(machine, "supply-input", "Power", number)
        supply["PowerOutputWatts"] = supply["LastPowerOutputWatts"] = given
        supply["LineInputVoltage"] = reading(machine, "supply", "Voltage", number)


def measure_environment(machine: Machine, document: Document) -> None:
    """EnvironmentMetrics: the readings that it quotes, and the limit of the box or of a GPU."""
    measure_quotes(machine, document)
    limit, path = document.get("PowerLimitWatts"), str(document["@odata.id"])
    if not isinstance(limit, dict):
        return
    if path == f"{places.outer(machine.board.persona)}/EnvironmentMetrics":
        limit["SetPoint"] = round(machine.instruments.box_limit())
    elif "Reading" in limit and isinstance(document.get("PowerWatts"), dict):
        limit["Reading"] = document["PowerWatts"].get("Reading")


async def limit_box(request: Request) -> Response:
    """PATCH EnvironmentMetrics of a chassis: the same limit as the Control's. Raises RedfishError 400."""
    machine = request.machine
    document = machine.board.document(request.path)
    if document is None:
        raise not_found(request.path)
    changes = written.changes(document, "EnvironmentMetrics", request.json())
    if request.path == f"{places.outer(machine.board.persona)}/EnvironmentMetrics":
        wanted = changes.get("PowerLimitWatts", {}).get("SetPoint")
        written.keep(machine, control_path(machine), {"SetPoint": wanted} if wanted is not None else {})
    else:
        written.keep(machine, request.path, changes)
    return no_content()


async def reset_control(request: Request) -> Response:
    """Control.ResetToDefaults."""
    machine = request.machine
    path = request.path.rpartition("/Actions/")[0]
    if machine.board.document(path) is None:
        raise not_found(request.path)
    machine.board.state.written.pop(path, None)
    machine.board.save()
    return no_content()


def control_path(machine: Machine) -> str:
    """The Control that limits the box."""
    return f"{places.outer(machine.board.persona)}/Controls/PowerLimit"


ROUTES = (
    Route(f"{CHASSIS}/{{}}/EnvironmentMetrics", patch=limit_box),
    Route(f"{CHASSIS}/{{}}/Controls/{{}}/Actions/Control.ResetToDefaults", post=reset_control),
)
