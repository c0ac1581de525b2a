"""What a request asks of the update service: its targets, when it is applied; and what is refused at once."""

import datetime as dt
import re
import time
from collections.abc import Sequence
from typing import Any

import aiohttp
import orjson

from emulator.machine.machine import Machine
from emulator.machine.tasks import TasksFullError
from emulator.machine.update_orders import Load, Order, Upload
from emulator.persona.firmware import Slot
from emulator.redfish.errors import RedfishError, missing, not_in_list, wrong_type
from emulator.redfish.http import Request, Response
from emulator.redfish.task_service import accepted
from emulator.redfish.update_answers import instead
from emulator.tree.places import FIRMWARE_INVENTORY

APPLY_TIME = "@Redfish.OperationApplyTime"
WINDOW = "@Redfish.MaintenanceWindow"
_BUSY_SECONDS = 30
_SECRET = ("Password", "Username")
_LOGIN = re.compile(r"://[^/?#]*@")

Targets = tuple[tuple[Slot, ...] | None, bool]


async def begin(request: Request, load: Load, body: dict[str, Any], targets: Targets) -> Response:
    """Start an update, or keep its image until StartUpdate. Raises RedfishError."""
    machine = request.machine
    refuse_while_busy(machine)
    order = read_order(request, load, body, targets)
    refused = instead(request)
    if refused:
        return refused
    held = machine.board.faults.peek("needs-start-update")
    if order.apply == "OnStartUpdateRequest" or held:
        return await _keep(machine, order)
    return start(request, order)


def start(request: Request, order: Order) -> Response:
    """Start an update now. Raises RedfishError."""
    try:
        task = request.machine.firmware.begin(order)
    except TasksFullError:
        text = "There are as many tasks as the service can hold; delete one that has ended."
        raise RedfishError(503, "CreateLimitReachedForResource", text) from None
    return accepted(request, task)


def read_order(request: Request, load: Load, body: dict[str, Any], targets: Targets) -> Order:
    """What `body` asks for. Raises RedfishError 400."""
    apply = body.get(APPLY_TIME, "Immediate")
    allowed = request.machine.board.persona.update.apply_times
    if apply not in allowed:
        raise wrong_type(apply, APPLY_TIME) if not isinstance(apply, str) else not_in_list(apply, APPLY_TIME)
    force = body.get("ForceUpdate", False)
    if not isinstance(force, bool):
        raise wrong_type(force, "ForceUpdate")
    asked = {key: value for key, value in body.items() if key not in _SECRET}
    if isinstance(asked.get("ImageURI"), str):
        asked["ImageURI"] = _LOGIN.sub("://", asked["ImageURI"])
    return Order(
        load,
        *targets,
        apply=apply,
        force=force,
        stage_only=_stage_only(body),
        window=_window(body) if "Window" in apply else None,
        request_path=request.path,
        request_body=orjson.dumps(asked).decode(),
    )


def refuse_while_busy(machine: Machine) -> None:
    """One update at a time. Raises RedfishError."""
    if not machine.firmware.busy:
        return
    status = machine.board.persona.update.busy_status
    error = RedfishError(status, "Update.1.0.UpdateInProgress", "An update is in progress.")
    wait = machine.board.clock.wall_seconds(_BUSY_SECONDS)
    error.headers = {"Retry-After": str(max(1, round(wait)))}
    raise error


def read_targets(machine: Machine, wanted: Any) -> Targets:
    """The devices that a list of URIs stands for; None: not limited. Raises RedfishError 400."""
    if wanted is None:
        return None, False
    if not isinstance(wanted, list) or not all(isinstance(path, str) for path in wanted):
        raise wrong_type(wanted, "Targets")
    if not wanted:
        return _by_default(machine)
    limit = machine.board.faults.peek("one-target-only")
    if limit and len(wanted) > 1:
        machine.board.faults.take("one-target-only")
        raise RedfishError(400, "ArraySizeTooLong", "The array Targets takes one element.", "Targets", "1")
    group = any(path.rstrip("/") in machine.board.persona.update.groups for path in wanted)
    return tuple(slot for path in wanted for slot in _slots_at(machine, path)), group


def _by_default(machine: Machine) -> Targets:
    """What an empty list stands for."""
    patterns = machine.board.persona.update.empty_targets
    return (tuple(machine.firmware.slots.select(patterns)), True) if patterns else (None, False)


def _slots_at(machine: Machine, path: str) -> Sequence[Slot]:
    plain = path.rstrip("/")
    patterns = machine.board.persona.update.groups.get(plain)
    if patterns:
        return machine.firmware.slots.select(patterns)
    slot = machine.firmware.inventory().get(plain.removeprefix(f"{FIRMWARE_INVENTORY}/"))
    if slot is None or not slot.updateable:
        raise not_in_list(path, "Targets")
    return [slot]


async def _keep(machine: Machine, order: Order) -> Response:
    """Hold the image; there is no task before StartUpdate."""
    try:
        image = await order.load()
        headers = image.headers()
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise RedfishError(400, "OperationFailed", f"The image cannot be used: {error}.") from error
    keys = None if order.targets is None else tuple(slot.key for slot in order.targets)
    upload = Upload(
        headers,
        image.size_bytes,
        keys,
        group=order.group,
        force=order.force,
        request_path=order.request_path,
        request_body=order.request_body,
    )
    machine.firmware.uploads.add(upload)
    text = "The image was uploaded; UpdateService.StartUpdate begins the update."
    return Response(200, RedfishError(200, "Success", text).document())


def _stage_only(body: dict[str, Any]) -> bool:
    oem = body.get("Oem")
    nvidia = oem.get("Nvidia") if isinstance(oem, dict) else None
    option = nvidia.get("UpdateOption") if isinstance(nvidia, dict) else None
    return option == "StageOnly" or body.get("Stage") is True


def _window(body: dict[str, Any]) -> tuple[float, float]:
    window = body.get(WINDOW)
    if not isinstance(window, dict):
        raise missing(WINDOW)
    begins, seconds = window.get("MaintenanceWindowStartTime"), window.get("MaintenanceWindowDurationInSeconds")
    if not isinstance(seconds, int) or isinstance(seconds, bool) or seconds <= 0:
        raise wrong_type(seconds, "MaintenanceWindowDurationInSeconds")
    try:
        moment = dt.datetime.fromisoformat(str(begins))
    except ValueError:
        raise wrong_type(begins, "MaintenanceWindowStartTime") from None
    start_at = moment.replace(tzinfo=moment.tzinfo or dt.UTC).timestamp()
    if start_at + seconds < time.time():
        raise not_in_list(begins, "MaintenanceWindowStartTime")
    return start_at, start_at + seconds
