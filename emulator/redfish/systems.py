"""Systems: what is true of the host now, and what may be written to it."""

from emulator.machine.machine import Machine
from emulator.redfish import written
from emulator.redfish.boot import change_boot, show_boot
from emulator.redfish.errors import not_found, not_writable, unknown_property
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.reset import reset_system
from emulator.redfish.router import Route
from emulator.tree.document import Document
from emulator.tree.systems import SYSTEMS


def show(machine: Machine, document: Document) -> None:
    """Power, boot and versions."""
    if "PowerState" in document:
        document["PowerState"] = machine.host.power
    if document["Id"] != machine.board.persona.system.id:
        return
    document["BiosVersion"] = machine.board.bios_version
    if "BootProgress" in document:
        document["BootProgress"]["LastState"] = machine.host.progress
    show_boot(machine.board, document["Boot"])


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
        change_boot(request.machine.board, body["Boot"])
    written.keep(request.machine, request.path, changes)
    return no_content()


def check_host(request: Request) -> None:
    """Raise RedfishError 404 unless the path is the host's."""
    if request.parameters[0] != request.machine.board.persona.system.id:
        raise not_found(request.path)


ROUTES = (
    Route(f"{SYSTEMS}/{{}}", patch=change_system),
    Route(f"{SYSTEMS}/{{}}/Actions/ComputerSystem.Reset", post=reset_system),
)
