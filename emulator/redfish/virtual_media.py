"""VirtualMedia: inserting and ejecting, by action and by PATCH."""

from typing import Any

from emulator.machine.machine import Machine
from emulator.machine.virtual_media import Drive, MediaError
from emulator.netboot.fetch import shown as shown_address
from emulator.redfish.errors import (
    RedfishError,
    action_value,
    missing,
    not_found,
    not_in_list,
    not_writable,
    unknown_property,
    wrong_type,
)
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.router import Route
from emulator.tree.document import Document
from emulator.tree.places import MANAGERS, SYSTEMS
from emulator.tree.virtual_media import media_path

_INSERT = "VirtualMedia.InsertMedia"
_PROTOCOLS = ("HTTP", "HTTPS")
_TEXTS = ("Image", "TransferMethod", "TransferProtocolType", "UserName", "Password")
_FLAGS = ("Inserted", "WriteProtected", "VerifyCertificate")
_ALLOWED = {"TransferMethod": ("Stream",), "TransferProtocolType": _PROTOCOLS}


def show(machine: Machine, document: Document) -> None:
    """What is in a drive of this machine."""
    path = str(document.get("@odata.id", ""))
    drive = next((one for one in machine.media.drives if path.endswith(f"/{one.id}")), None)
    if drive is None or "Image" not in document:
        return
    shown = {
        "Image": drive.image or None,
        "ImageName": drive.image_name or None,
        "Inserted": drive.inserted,
        "ConnectedVia": drive.connected_via,
        "WriteProtected": drive.write_protected,
        "TransferProtocolType": drive.image.partition(":")[0].upper() or None,
    }
    document.update({name: value for name, value in shown.items() if name in document})


async def insert(request: Request) -> Response:
    """VirtualMedia.InsertMedia."""
    drive = _drive(request)
    body = request.json((*_TEXTS, *_FLAGS))
    _refuse_by_fault(request.machine, body)
    if "Image" not in body:
        text = f"The action {_INSERT} requires the parameter Image to be present in the request body."
        raise RedfishError(400, "ActionParameterMissing", text, _INSERT, "Image")
    _check(body)
    _put(request.machine, drive, body)
    return no_content()


async def eject(request: Request) -> Response:
    """VirtualMedia.EjectMedia; the body is {} or nothing, as a fault wants it."""
    machine, drive = request.machine, _drive(request)
    if machine.board.faults.peek("eject-needs-body") and not request.body.strip():
        raise RedfishError(415, "UnrecognizedRequestBody", "The service detected a malformed request body.")
    request.json()
    if not drive.inserted and machine.board.faults.peek("eject-fails-when-empty"):
        raise RedfishError(400, "ResourceInUse", "There is no virtual media to eject.")
    _eject(machine, drive)
    return no_content()


async def change(request: Request) -> Response:
    """PATCH of Image and Inserted, the way without actions; null or false ejects."""
    machine, drive = request.machine, _drive(request)
    body = {name: value for name, value in request.json().items() if not name.startswith("@")}
    for name in body:
        if name not in (*_TEXTS, *_FLAGS):
            document = machine.board.document(request.path) or {}
            raise not_writable(name) if name in document else unknown_property(name)
    if body.get("Image", drive.image) is None or body.get("Inserted", True) is False:
        _eject(machine, drive)
    elif "Image" in body:
        _check(body)
        _eject(machine, drive)
        _put(machine, drive, body)
    elif not body:
        raise missing("Image")
    return no_content()


def _put(machine: Machine, drive: Drive, body: dict[str, Any]) -> None:
    image = body["Image"]
    if machine.board.faults.take("media-unreachable"):
        text = f"The service failed to establish a connection with the URI {image}."
        raise RedfishError(400, "CouldNotEstablishConnection", text, image)
    try:
        machine.media.insert(drive.id, image, write_protected=body.get("WriteProtected", True))
    except MediaError as error:
        if drive.inserted:
            raise RedfishError(409, "ResourceInUse", f"The change failed: {error}.") from error
        text = f"The value '{image}' for the parameter Image in the action {_INSERT} cannot be accepted: {error}."
        raise RedfishError(400, "ActionParameterValueFormatError", text, image, "Image", _INSERT) from error
    origin = f"{media_path(machine.board.persona)}/{drive.id}"
    machine.events.publish("OpenBMC.VirtualMediaInserted", drive.id, shown_address(image), origin=origin, topic="bmc")


def _eject(machine: Machine, drive: Drive) -> None:
    if drive.inserted:
        machine.media.eject(drive.id)
        origin = f"{media_path(machine.board.persona)}/{drive.id}"
        machine.events.publish("OpenBMC.VirtualMediaEjected", drive.id, origin=origin, topic="bmc")


def _check(body: dict[str, Any]) -> None:
    if not isinstance(body["Image"], str):
        raise wrong_type(body["Image"], "Image")
    for name, value in body.items():
        if value is not None and name in (*_TEXTS, *_FLAGS):
            _check_value(name, value)
    if body.get("Inserted", True) is False:
        raise action_value(value=False, parameter="Inserted", action=_INSERT)


def _check_value(name: str, value: Any) -> None:
    if not isinstance(value, bool if name in _FLAGS else str):
        raise wrong_type(value, name)
    if value not in _ALLOWED.get(name, (value,)):
        raise not_in_list(value, name)


def _refuse_by_fault(machine: Machine, body: dict[str, Any]) -> None:
    faults = machine.board.faults
    if faults.peek("insert-refuses-optional"):
        for name in ("Inserted", "WriteProtected"):
            if name in body:
                raise unknown_property(name)
    if faults.peek("insert-needs-protocol") and body.get("TransferProtocolType") is None:
        text = f"The action {_INSERT} requires the parameter TransferProtocolType to be present in the request body."
        raise RedfishError(400, "ActionParameterMissing", text, _INSERT, "TransferProtocolType")


def _drive(request: Request) -> Drive:
    path = request.path.partition("/Actions/")[0]
    owner, _, identity = path.rpartition("/")
    persona = request.machine.board.persona
    if owner != media_path(persona) or identity not in persona.services.virtual_media:
        raise not_found(request.path)
    return request.machine.media.drive(identity)


def _routes(owner: str) -> tuple[Route, ...]:
    path = f"{owner}/{{}}/VirtualMedia/{{}}"
    return (
        Route(path, patch=change),
        Route(f"{path}/Actions/{_INSERT}", post=insert),
        Route(f"{path}/Actions/VirtualMedia.EjectMedia", post=eject),
    )


ROUTES = (*_routes(MANAGERS), *_routes(SYSTEMS))
