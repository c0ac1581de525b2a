"""Systems: what is true of the host now, and what may be written to it."""

from emulator.machine.machine import Machine
from emulator.redfish import written
from emulator.redfish.boot import change_boot, future_path, refuse_direct, show_boot, show_future
from emulator.redfish.errors import missing, not_found, not_writable, unknown_property
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.power_state import shown_power
from emulator.redfish.reset import lacking, offered, reset_system
from emulator.redfish.router import Route
from emulator.tree import places
from emulator.tree.document import Document
from emulator.tree.places import SYSTEMS


def show(machine: Machine, document: Document) -> None:
    """Power, boot and versions."""
    if "PowerState" in document:
        document["PowerState"] = shown_power(machine)
    if "LastResetTime" in document:
        document["LastResetTime"] = machine.host.started_at.isoformat(timespec="seconds")
    if document["Id"] != machine.board.persona.system.id:
        return
    if machine.board.bios_version is not None:
        document["BiosVersion"] = machine.board.bios_version
    if "BootProgress" in document:
        document["BootProgress"]["LastState"] = machine.host.progress
    if "Boot" in document:
        show_boot(machine.board, document["Boot"])
    if document["@odata.id"].rstrip("/") != future_path(machine.board):
        show_future(machine.board, document)
    _show_resets(machine, document)


def show_action_info(machine: Machine, document: Document) -> None:
    """ResetActionInfo of the host: the types that it takes now."""
    host = f"{places.host(machine.board.persona)}/"
    if not str(document["@odata.id"]).startswith(host) or not lacking(machine):
        return
    for parameter in document.get("Parameters", ()):
        if parameter.get("Name") == "ResetType" and "AllowableValues" in parameter:
            parameter["AllowableValues"] = list(offered(machine))


async def get_future(request: Request) -> Response:
    """The future state of the host: its Boot, as clients may change it."""
    document = _future(request)
    return Response(200, document)


async def change_future(request: Request) -> Response:
    """PATCH of the future state: Boot alone."""
    document = _future(request)
    body = request.json(("Boot",))
    if "Boot" not in body:
        raise missing("Boot")
    change_boot(request.machine.board, document["Boot"], body["Boot"])
    return no_content()


async def change_system(request: Request) -> Response:
    """PATCH Boot and what else may be written: all of it or nothing."""
    document = request.machine.board.document(request.path)
    if document is None:
        raise not_found(request.path)
    body = request.json()
    if not body:
        raise unknown_property("(none)")
    rules = written.WRITABLE["ComputerSystem"]
    changes = {name: value for name, value in body.items() if name != "Boot" and not name.startswith("@")}
    for name, value in changes.items():
        if name not in rules:
            raise not_writable(name) if name in document else unknown_property(name)
        written.checked(rules[name], name, value)
    if "Boot" in body:
        check_host(request)
        refuse_direct(request.machine.board)
        show_boot(request.machine.board, document.setdefault("Boot", {}))
        change_boot(request.machine.board, document["Boot"], body["Boot"])
    written.keep(request.machine, request.path, changes)
    return no_content()


def check_host(request: Request) -> None:
    """Raise RedfishError 404 unless the path is the host's."""
    if request.parameters[0] != request.machine.board.persona.system.id:
        raise not_found(request.path)


def _show_resets(machine: Machine, document: Document) -> None:
    entry = document.get("Actions", {}).get("#ComputerSystem.Reset", {})
    if "ResetType@Redfish.AllowableValues" in entry and lacking(machine):
        entry["ResetType@Redfish.AllowableValues"] = list(offered(machine))


def _future(request: Request) -> Document:
    """The document of the future state; it is made of the host's where the tree has none."""
    check_host(request)
    board = request.machine.board
    if request.path.lower() != str(future_path(board)).lower():
        raise not_found(request.path)
    host = board.document(request.path.rpartition("/")[0]) or {}
    name = request.path.rpartition("/")[2]
    made = {"@odata.type": host["@odata.type"], "@odata.id": request.path, "Id": name, "Name": f"{name} of the system"}
    document = board.document(request.path) or {**made, "Boot": host.get("Boot", {})}
    show_boot(board, document.setdefault("Boot", {}))
    return document


ROUTES = (
    Route(f"{SYSTEMS}/{{}}", patch=change_system),
    Route(f"{SYSTEMS}/{{}}/SD", get=get_future, patch=change_future, lasting=True),
    Route(f"{SYSTEMS}/{{}}/Settings", get=get_future, patch=change_future, lasting=True),
    Route(f"{SYSTEMS}/{{}}/Pending", get=get_future, patch=change_future, lasting=True),
    Route(f"{SYSTEMS}/{{}}/Actions/ComputerSystem.Reset", post=reset_system),
)
