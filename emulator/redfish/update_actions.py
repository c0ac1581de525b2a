"""SimpleUpdate, StartUpdate and Dell's Install: the ways to start an update whose image is not in the request."""

from dataclasses import replace
from typing import Any

from emulator.machine.machine import Machine
from emulator.machine.update_offers import offers
from emulator.machine.update_orders import Order, Upload
from emulator.package import Image
from emulator.redfish.errors import RedfishError, not_found, not_in_list, wrong_type
from emulator.redfish.http import Request, Response
from emulator.redfish.image_fetch import fetch_later
from emulator.redfish.router import Route
from emulator.redfish.software_inventory import entries
from emulator.redfish.update_order import (
    APPLY_TIME,
    WINDOW,
    begin,
    read_order,
    read_targets,
    refuse_while_busy,
    start,
)
from emulator.tree.places import FIRMWARE_INVENTORY, UPDATE_SERVICE

_SIMPLE = (
    "ImageURI",
    "TransferProtocol",
    "Targets",
    "Username",
    "Password",
    "ForceUpdate",
    "Stage",
    APPLY_TIME,
    WINDOW,
)
_SCHEMES = ("http", "https", "tftp", "nfs", "cifs", "ftp", "sftp", "scp")
_UPON = {"Now": "Immediate", "NowAndReboot": "OnReset", "NextReboot": "OnReset"}


async def simple_update(request: Request) -> Response:
    """SimpleUpdate: the BMC fetches the package by itself, or takes one that was pushed before."""
    machine = request.machine
    if not offers(machine.board).simple_update:
        raise not_found(request.path)
    body = request.json(_SIMPLE)
    address = request.text(body, "ImageURI")
    if address.startswith(f"{FIRMWARE_INVENTORY}/"):
        return _start_held(request, [address], body)
    address = _address(machine, address, body.get("TransferProtocol"))
    login = (_text(body, "Username"), _text(body, "Password"))
    targets = read_targets(machine, body.get("Targets"))
    return await begin(request, fetch_later(machine, address, *login), body, targets)


async def start_update(request: Request) -> Response:
    """StartUpdate: begin what was sent with OnStartUpdateRequest."""
    machine = request.machine
    request.json()
    waiting = [one for one in machine.firmware.uploads.listing() if one.waits]
    if not waiting:
        raise RedfishError(400, "NoOperation", "No update waits for StartUpdate.")
    refuse_while_busy(machine)
    return _start(request, waiting[0], Order(_never, request_path=request.path))


async def install(request: Request) -> Response:
    """DellUpdateService.Install: what was pushed into the inventory, now or with the next reset of the host."""
    machine = request.machine
    if request.path != machine.board.persona.update.install_uri:
        raise not_found(request.path)
    body = request.json(("SoftwareIdentityURIs", "InstallUpon"))
    upon = body.get("InstallUpon", "Now")
    if not isinstance(upon, str) or upon not in _UPON:
        raise not_in_list(upon, "InstallUpon")
    addresses = body.get("SoftwareIdentityURIs")
    if not isinstance(addresses, list) or not addresses:
        raise wrong_type(addresses, "SoftwareIdentityURIs")
    body = {APPLY_TIME: _UPON[upon]}
    return _start_held(request, [str(one) for one in addresses], body, reboots=upon == "NowAndReboot")


def _start_held(request: Request, addresses: list[str], body: dict[str, Any], *, reboots: bool = False) -> Response:
    refuse_while_busy(request.machine)
    upload = _held(request.machine, addresses[0])
    order = read_order(request, _never, body, read_targets(request.machine, body.get("Targets")))
    return _start(request, upload, replace(order, reboots=reboots))


def _held(machine: Machine, address: str) -> Upload:
    name = address.removeprefix(f"{FIRMWARE_INVENTORY}/").rstrip("/")
    entry = next((one for one in entries(machine) if one.name == name and one.kind == "staged"), None)
    for upload in machine.firmware.uploads.listing():
        if entry and not upload.waits and upload.headers[0].component == entry.slot.component:
            return upload
    raise not_in_list(address, "ImageURI")


def _start(request: Request, upload: Upload, order: Order) -> Response:
    return start(request, request.machine.firmware.take_up(upload, order))


def _address(machine: Machine, address: str, protocol: Any) -> str:
    """The whole URI; one without a scheme takes TransferProtocol (DSP0268). Raises RedfishError 400."""
    allowed = machine.board.persona.update.protocols
    if protocol is not None and (not isinstance(protocol, str) or protocol not in allowed):
        raise not_in_list(protocol, "TransferProtocol")
    if "://" not in address and isinstance(protocol, str):
        address = f"{protocol.lower()}://{address}"
    scheme = address.partition("://")[0].lower()
    if scheme not in _SCHEMES or scheme.upper() not in allowed:
        raise not_in_list(address, "ImageURI")
    return address


def _text(body: dict[str, Any], name: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str):
        raise wrong_type(value, name)
    return value


async def _never() -> Image:
    raise ValueError("there is no image")


ROUTES = (
    Route(f"{UPDATE_SERVICE}/Actions/UpdateService.SimpleUpdate", post=simple_update),
    Route(f"{UPDATE_SERVICE}/Actions/UpdateService.StartUpdate", post=start_update),
    Route(f"{UPDATE_SERVICE}/Actions/Oem/{{}}", post=install),
)
