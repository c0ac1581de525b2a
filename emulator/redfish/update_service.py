"""UpdateService: the three ways to send firmware, and the inventory."""

import io
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import python_multipart

from emulator.machine.machine import Machine
from emulator.persona.firmware import Slot
from emulator.redfish.errors import RedfishError, missing, not_found, not_in_list, not_writable, wrong_type
from emulator.redfish.http import Request, Response, collection, link, no_content, ok
from emulator.redfish.router import Route
from emulator.redfish.task_service import accepted
from emulator.tree.document import Document

SERVICE = "/redfish/v1/UpdateService"
INVENTORY = f"{SERVICE}/FirmwareInventory"
_SIMPLE_UPDATE = f"{SERVICE}/Actions/UpdateService.SimpleUpdate"
_BUSY_SECONDS = 30


def show(machine: Machine, document: Document) -> None:
    """What the next push is for."""
    if "HttpPushUriTargets" in document:
        document["HttpPushUriTargets"] = machine.firmware.push_targets


async def change_service(request: Request) -> Response:
    """PATCH HttpPushUriTargets, for the next push."""
    if not request.machine.board.persona.update.push_uri:
        raise not_writable("HttpPushUriTargets")
    targets = request.json(("HttpPushUriTargets",)).get("HttpPushUriTargets")
    _targets(request.machine, targets)
    request.machine.firmware.push_targets = targets or []
    return no_content()


async def simple_update(request: Request) -> Response:
    """SimpleUpdate: the BMC fetches the package by itself."""
    update = request.machine.board.persona.update
    if not update.simple_update:
        raise not_found(request.path)
    body = request.json(
        (
            "ImageURI",
            "TransferProtocol",
            "Targets",
            "Username",
            "Password",
            "ForceUpdate",
            "@Redfish.OperationApplyTime",
        )
    )
    address = request.text(body, "ImageURI")
    if body.get("TransferProtocol", "HTTP") not in update.protocols:
        raise not_in_list(body["TransferProtocol"], "TransferProtocol")
    if not address.startswith(("http://", "https://")):
        raise not_in_list(address, "ImageURI")
    return _begin(
        request, _download(request.machine, address), _targets(request.machine, body.get("Targets")), asked=body
    )


async def push(request: Request) -> Response:
    """A package as the body, or as the part UpdateFile of a multipart body."""
    update = request.machine.board.persona.update
    kind = request.headers.get("content-type", "")
    if request.path == update.multipart_uri and kind.startswith("multipart/form-data"):
        parameters, package = _parts(request, kind)
        targets = parameters.get("Targets")
    elif request.path == update.push_uri:
        package, targets = request.body, request.machine.firmware.push_targets
    elif request.path == update.multipart_uri:
        raise RedfishError(415, "UnsupportedMediaType", "The body must be multipart/form-data.")
    else:
        raise not_found(request.path)
    if update.max_image_bytes and len(package) > update.max_image_bytes:
        raise RedfishError(413, "PayloadTooLarge", "The supplied payload exceeds MaxImageSizeBytes.")

    async def load() -> bytes:
        return package

    return _begin(request, load, _targets(request.machine, targets), asked={"Targets": targets or []})


async def refuse_get(request: Request) -> Response:
    """Nothing can be read where packages are pushed to."""
    update = request.machine.board.persona.update
    if request.path not in (update.multipart_uri, update.push_uri):
        raise not_found(request.path)
    error = RedfishError(405, "OperationNotAllowed", "The HTTP method GET is not allowed on this resource.")
    error.headers = {"Allow": "POST"}
    raise error


async def get_inventory(request: Request) -> Response:
    """The ids of everything that runs firmware."""
    members = list(request.machine.firmware.inventory())
    return collection("SoftwareInventoryCollection", INVENTORY, "Software Inventory Collection", members)


async def get_entry(request: Request) -> Response:
    """One entry; the version is the running one."""
    slot = request.machine.firmware.inventory().get(request.parameters[0])
    if slot is None:
        raise not_found(request.path)
    document = {
        "Id": request.parameters[0],
        "Name": slot.name,
        "Version": request.machine.board.version(slot.key),
        "Updateable": slot.updateable,
        "Status": {"State": "Enabled", "Health": "OK"},
        **({"SoftwareId": slot.software_id} if slot.software_id else {}),
        **({"RelatedItem": [link(slot.related)]} if slot.related else {}),
    }
    return ok("SoftwareInventory.v1_4_0.SoftwareInventory", f"{INVENTORY}/{request.parameters[0]}", document)


def _begin(
    request: Request, load: Callable[[], Awaitable[bytes]], targets: list[Slot], *, asked: dict[str, Any]
) -> Response:
    if request.machine.firmware.busy:
        error = RedfishError(503, "Update.1.0.UpdateInProgress", "An update is in progress.")
        wait = request.machine.board.clock.wall_seconds(_BUSY_SECONDS)
        error.headers = {"Retry-After": str(max(1, round(wait)))}
        raise error
    task = request.machine.firmware.begin("Firmware update", load, targets)
    task.request_path = request.path
    task.request_body = orjson.dumps({key: asked[key] for key in asked if key != "Password"}).decode()
    return accepted(request, task)


def _targets(machine: Machine, wanted: Any) -> list[Slot]:
    if wanted is None:
        return []
    if not isinstance(wanted, list):
        raise wrong_type(wanted, "Targets")
    inventory = machine.firmware.inventory()
    slots = [inventory.get(str(path).removeprefix(f"{INVENTORY}/")) for path in wanted]
    for path, slot in zip(wanted, slots, strict=True):
        if slot is None or not slot.updateable:
            raise not_in_list(path, "Targets")
    return [slot for slot in slots if slot]


def _download(machine: Machine, address: str) -> Callable[[], Awaitable[bytes]]:
    async def load() -> bytes:
        async with machine.client.get(address, raise_for_status=True) as answer:
            return await answer.read()

    return load


def _parts(request: Request, kind: str) -> tuple[dict[str, Any], bytes]:
    parts: dict[str, bytes] = {}

    def on_field(field: Any) -> None:
        parts[field.field_name.decode()] = field.value or b""

    def on_file(file: Any) -> None:
        file.file_object.seek(0)
        parts[file.field_name.decode()] = file.file_object.read()

    try:
        python_multipart.parse_form({"Content-Type": kind.encode()}, io.BytesIO(request.body), on_field, on_file)
        parameters = orjson.loads(parts.get("UpdateParameters", b"{}"))
    except (python_multipart.exceptions.FormParserError, orjson.JSONDecodeError) as error:
        raise RedfishError(400, "MalformedJSON", f"The parts of the request cannot be read: {error}") from error
    if "UpdateFile" not in parts:
        raise missing("UpdateFile")
    return (parameters if isinstance(parameters, dict) else {}), parts["UpdateFile"]


ROUTES = (
    Route(SERVICE, patch=change_service),
    Route(_SIMPLE_UPDATE, post=simple_update),
    Route(f"{SERVICE}/{{}}", get=refuse_get, post=push),
    Route(INVENTORY, get=get_inventory, post=push, lasting=True),
    Route(f"{INVENTORY}/{{}}", get=get_entry, lasting=True),
)
