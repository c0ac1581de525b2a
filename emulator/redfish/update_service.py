"""UpdateService: what it offers, what may be set, and pushes of packages."""

from collections.abc import Mapping
from typing import Any

import orjson

from emulator.machine.machine import Machine
from emulator.machine.update_offers import offers
from emulator.machine.update_orders import Load, Upload
from emulator.package import Image
from emulator.persona.firmware import Slot
from emulator.redfish.errors import RedfishError, missing, not_found, not_in_list, not_writable, wrong_type
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.router import Route
from emulator.redfish.software_inventory import get_inventory, refuse_without_match
from emulator.redfish.update_order import begin, read_targets
from emulator.redfish.upload import Part, Received
from emulator.tree.document import Document
from emulator.tree.places import FIRMWARE_INVENTORY, UPDATE_SERVICE

_OPTIONS = "HttpPushUriOptions"
_PARAMETERS = "UpdateParameters"
_KINDS: Mapping[str, str] = {_PARAMETERS: "application/json", "UpdateFile": "application/octet-stream"}


def show(machine: Machine, document: Document) -> None:
    """What the next push is for, and what faults leave of the offers."""
    push = machine.firmware.push
    now = {
        "HttpPushUriTargets": push.targets,
        "HttpPushUriTargetsBusy": push.targets_busy or machine.firmware.busy,
        "HttpPushUriOptionsBusy": push.busy,
        "VerifyRemoteServerCertificate": offers(machine.board).verifies_servers,
    }
    document.update({name: value for name, value in now.items() if name in document})
    if _OPTIONS in document:
        options = {"HttpPushUriApplyTime": {"ApplyTime": push.apply}}
        document[_OPTIONS] = {**options, "ForceUpdate": push.force} if "ForceUpdate" in document[_OPTIONS] else options
    _show_limits(machine, document)


def _show_limits(machine: Machine, document: Document) -> None:
    faults, offered = machine.board.faults, offers(machine.board)
    if faults.peek("image-size-limit") or faults.peek("only-http-push"):
        document["MaxImageSizeBytes"] = offered.most_bytes
    if faults.peek("only-http-push"):
        document.get("Actions", {}).pop("#UpdateService.SimpleUpdate", None)
        for name in [one for one in document if one.startswith("MultipartHttpPushUri")]:
            document.pop(name)
        document["HttpPushUri"] = offered.push_uri


async def change_service(request: Request) -> Response:
    """PATCH of what the next push is for and how servers are checked: all properties or none."""
    machine = request.machine
    document = machine.board.document(UPDATE_SERVICE) or {}
    body = {name: value for name, value in request.json().items() if not name.startswith("@")}
    for name, value in body.items():
        if name not in document or name not in _SETTERS:
            raise not_writable(name)
        _check(machine, name, value)
    for name, value in body.items():
        _SETTERS[name](machine, value)
    machine.board.touch()
    return no_content()


async def push(request: Request) -> Response:
    """A package as the body, or as the part UpdateFile of a multipart body."""
    offered, received = offers(request.machine.board), request.upload
    if received is None or not offered.takes_packages(request.path):
        raise not_found(request.path)
    if request.path == offered.multipart_uri and (_is_form(request) or request.path != offered.push_uri):
        return await _multipart(request, received)
    if received.too_large:
        raise _too_large()
    return await (_store(request, received) if offered.two_step else _push(request, received))


async def refuse_get(request: Request) -> Response:
    """Nothing can be read where packages are pushed to."""
    if not offers(request.machine.board).takes_packages(request.path):
        raise not_found(request.path)
    error = RedfishError(405, "OperationNotAllowed", "The HTTP method GET is not allowed on this resource.")
    error.headers = {"Allow": "POST"}
    raise error


async def _multipart(request: Request, received: Received) -> Response:
    if not _is_form(request):
        raise RedfishError(415, "UnsupportedMediaType", "The body must be multipart/form-data.")
    if received.too_large:
        raise _too_large()
    if received.broken:
        raise RedfishError(400, "MalformedJSON", f"The parts of the request cannot be read: {received.broken}")
    parameters = _parameters(received.find(_PARAMETERS))
    file = received.find("UpdateFile")
    if file is None:
        raise missing("UpdateFile")
    if request.machine.board.persona.update.strict_parts or request.machine.board.faults.peek("strict-parts"):
        _refuse_odd_parts(received)
    targets = read_targets(request.machine, parameters.get("Targets"))
    return await begin(request, _loaded(file.image), parameters, targets)


async def _push(request: Request, received: Received) -> Response:
    push = request.machine.firmware.push
    targets = read_targets(request.machine, list(push.targets) or None)
    body = {"Targets": list(push.targets), "ForceUpdate": push.force}
    if push.apply != "Immediate":
        body["@Redfish.OperationApplyTime"] = push.apply
    return await begin(request, _loaded(received.parts[0].image), body, targets)


async def _store(request: Request, received: Received) -> Response:
    """Dell: a push into the inventory makes an entry `Available-...` and starts nothing."""
    refuse_without_match(request)
    machine = request.machine
    part = next((one for one in received.parts if one.size_bytes and one.name != _PARAMETERS), None)
    if part is None:
        raise missing("UpdateFile")
    try:
        headers = part.image.headers()
    except ValueError as error:
        raise RedfishError(400, "OperationFailed", f"The image cannot be used: {error}.") from error
    slot = _device_of(machine, headers[0].component)
    machine.firmware.uploads.add(Upload(headers, part.size_bytes, waits=False))
    where = f"{FIRMWARE_INVENTORY}/{slot.slot_id('staged', headers[0].version)}"
    return Response(201, headers={"Location": where})


def _device_of(machine: Machine, component: str) -> Slot:
    for slot in machine.firmware.inventory().values():
        if slot.component == component and "staged" in slot.slots:
            return slot
    raise RedfishError(400, "OperationFailed", f"The image is for {component}, which nothing here takes in two steps.")


def _parameters(part: Part | None) -> dict[str, Any]:
    try:
        parameters = orjson.loads(bytes(part.content)) if part else {}
    except orjson.JSONDecodeError as error:
        text = f"The parts of the request cannot be read: {_PARAMETERS}: {error}"
        raise RedfishError(400, "MalformedJSON", text) from error
    if not isinstance(parameters, dict):
        raise RedfishError(400, "MalformedJSON", f"{_PARAMETERS} is not a JSON object.")
    return parameters


def _refuse_odd_parts(received: Received) -> None:
    """Names, order and media types as DSP0266 "Multipart HTTP push updates" has them."""
    names = [part.name for part in received.parts]
    if names[:2] != [_PARAMETERS, "UpdateFile"] or any(name != "OemParameters" for name in names[2:]):
        text = f"The parts are {', '.join(names)}; UpdateParameters, UpdateFile and OemParameters are known."
        raise RedfishError(400, "UnrecognizedRequestBody", text)
    for part in received.parts[:2]:
        if part.kind != _KINDS[part.name]:
            text = f"The part {part.name} is of the media type {part.kind or 'none'}; {_KINDS[part.name]} is accepted."
            raise RedfishError(415, "UnsupportedMediaType", text)


def _loaded(image: Image) -> Load:
    async def load() -> Image:
        return image

    return load


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith("multipart/form-data")


def _too_large() -> RedfishError:
    return RedfishError(413, "PayloadTooLarge", "The supplied payload exceeds MaxImageSizeBytes.")


def _check(machine: Machine, name: str, value: Any) -> None:
    if name == "HttpPushUriTargets":
        read_targets(machine, value)
        busy = machine.firmware.push.targets_busy and machine.firmware.busy
        if busy:
            raise RedfishError(409, "ResourceInUse", "HttpPushUriTargets is reserved for an update that runs.")
    elif name == _OPTIONS:
        _read_options(machine, value)
    elif not isinstance(value, bool):
        raise wrong_type(value, name)


def _read_options(machine: Machine, value: Any) -> tuple[str, bool]:
    push = machine.firmware.push
    times = value.get("HttpPushUriApplyTime", {}) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(times, dict):
        raise wrong_type(value, _OPTIONS)
    apply, force = times.get("ApplyTime", push.apply), value.get("ForceUpdate", push.force)
    if not isinstance(force, bool):
        raise wrong_type(force, f"{_OPTIONS}/ForceUpdate")
    if apply not in machine.board.persona.update.apply_times:
        raise not_in_list(apply, f"{_OPTIONS}/HttpPushUriApplyTime/ApplyTime")
    return apply, force


def _set_options(machine: Machine, value: Any) -> None:
    machine.firmware.push.apply, machine.firmware.push.force = _read_options(machine, value)


def _set_targets(machine: Machine, value: Any) -> None:
    machine.firmware.push.targets = value or []


def _set_targets_busy(machine: Machine, value: Any) -> None:
    machine.firmware.push.targets_busy = value


def _set_options_busy(machine: Machine, value: Any) -> None:
    machine.firmware.push.busy = value


def _set_verify(machine: Machine, value: Any) -> None:
    machine.board.state.written.setdefault(UPDATE_SERVICE, {})["VerifyRemoteServerCertificate"] = value
    machine.board.save()


_SETTERS = {
    "HttpPushUriTargets": _set_targets,
    "HttpPushUriTargetsBusy": _set_targets_busy,
    _OPTIONS: _set_options,
    "HttpPushUriOptionsBusy": _set_options_busy,
    "VerifyRemoteServerCertificate": _set_verify,
}

ROUTES = (
    Route(UPDATE_SERVICE, patch=change_service),
    Route(f"{UPDATE_SERVICE}/{{}}", get=refuse_get, post=push),
    Route("/{}", get=refuse_get, post=push),
    Route("/cgi-bin/{}", get=refuse_get, post=push),
    Route(FIRMWARE_INVENTORY, get=get_inventory, post=push, lasting=True),
)
