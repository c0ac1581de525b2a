"""Bios and its settings object."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from emulator.machine.machine import Machine
from emulator.persona.bios_rules import Problem, problems
from emulator.redfish.apply_times import Wanted, read_apply_time
from emulator.redfish.bios_messages import explained, not_applied, refusal
from emulator.redfish.errors import RedfishError, message, missing, not_found, not_in_list, not_writable, wrong_type
from emulator.redfish.http import Request, Response, no_content
from emulator.redfish.router import Route
from emulator.redfish.systems import check_host
from emulator.redfish.task_service import accepted
from emulator.tree import places
from emulator.tree.document import Document
from emulator.tree.places import SYSTEMS

_MOVED = "PendingSettings"
_STAGED = "Successfully Completed Request. The settings will be applied on the next system reset."


def show(machine: Machine, document: Document) -> None:
    """The attributes that the host runs with, or those that a boot of it will apply; other hosts' stay as they are."""
    if "Attributes" not in document or not _of_host(machine, document):
        return
    if "@Redfish.Settings" in document or str(document["@odata.id"]).lower().endswith("/bios"):
        machine.bios.was_read = True
        _show_current(machine, document)
        return
    _check_there(machine, str(document["@odata.id"]))
    every = document["Attributes"] if machine.board.persona.bios.shows == "all" else {}
    document["Attributes"] = {**every, **machine.bios.future}
    fault = machine.board.faults.peek("bios-no-settings")
    if fault and fault["how"] == "no-attributes" and not document["Attributes"]:
        del document["Attributes"]


async def change_settings(request: Request) -> Response:
    """PATCH of the settings object."""
    check_host(request)
    machine = request.machine
    _check_there(machine, request.path)
    if request.path.lower() != str(settings_path(machine) or "").lower():
        raise not_found(request.path)
    return await _change(request)


async def change_bios(request: Request) -> Response:
    """PATCH of Bios itself: refused where there is a settings object."""
    check_host(request)
    if settings_path(request.machine):
        raise not_writable("Attributes")
    return await _change(request)


async def get_moved(request: Request) -> Response:
    """The settings object at its new place, while it has moved."""
    path = _moved_from(request)
    document = request.machine.board.document(path) or {}
    document["Attributes"] = request.machine.bios.future
    return Response(200, {**document, "@odata.id": request.path, "Id": _MOVED})


async def change_moved(request: Request) -> Response:
    """PATCH of the settings object at its new place."""
    _moved_from(request)
    return await _change(request)


async def reset_bios(request: Request) -> Response:
    """Bios.ResetBios: factory values with the next boot."""
    check_host(request)
    _check_ready(request.machine)
    bios, faults = request.machine.board.persona.bios, request.machine.board.faults
    if bios.reset_body or faults.peek("bios-reset-needs-body"):
        if not request.headers.get("content-type", "").startswith("application/json"):
            raise RedfishError(415, "UnsupportedMediaType", "The content type of the request must be application/json.")
        if not request.body:
            raise RedfishError(400, "MalformedJSON", "The request body is empty; send an empty JSON object.")
    request.json()
    request.machine.bios.stage_factory()
    return no_content()


async def change_password(request: Request) -> Response:
    """Bios.ChangePassword: at once."""
    check_host(request)
    names = request.machine.board.persona.bios.passwords
    if not names:
        raise not_found(request.path)
    body = request.json(("PasswordName", "OldPassword", "NewPassword"))
    name, old, new = (request.text(body, part) for part in ("PasswordName", "OldPassword", "NewPassword"))
    if name not in names:
        raise not_in_list(name, "PasswordName")
    known = request.machine.board.state.bios_passwords
    if known.get(name, "") != old:
        raise RedfishError(400, "ActionParameterValueError", "The old password is not right.", "OldPassword")
    known[name] = new
    request.machine.board.save()
    return no_content()


def _show_current(machine: Machine, document: Document) -> None:
    document["Attributes"] |= machine.bios.shown
    settings = document.get("@Redfish.Settings")
    if settings is None:
        return
    fault = machine.board.faults.peek("bios-no-settings")
    if fault and fault["how"] == "no-object":
        del document["@Redfish.Settings"]
        return
    if machine.board.faults.peek("bios-settings-moved"):
        parent = settings["SettingsObject"]["@odata.id"].rpartition("/")[0]
        settings["SettingsObject"] = {"@odata.id": f"{parent}/{_MOVED}"}
    messages = [not_applied(name) for name in machine.bios.rejected]
    if messages or "Messages" in settings:
        settings["Messages"] = messages
    if machine.board.state.bios_applied_at:
        moment = dt.datetime.fromtimestamp(machine.board.state.bios_applied_at, dt.UTC)
        settings["Time"] = moment.isoformat(timespec="seconds")


async def _change(request: Request) -> Response:
    """All attributes or none, or the good ones where the BMC does so; then a task where the BMC makes one."""
    machine = request.machine
    _check_ready(machine)
    body = request.json(("Attributes", "Oem"))
    apply_time = read_apply_time(request, body)
    attributes = body.get("Attributes")
    if attributes is None:
        raise missing("Attributes")
    if not isinstance(attributes, dict):
        raise wrong_type(attributes, "Attributes")
    _check_free(machine)
    wrong = _wrong(machine, attributes)
    faults = machine.board.faults
    misnames = faults.peek("bios-misnames-attribute") is not None
    partial = machine.board.persona.bios.partial or faults.peek("bios-partial-change") is not None
    if wrong and (not partial or len(wrong) == len(attributes)):
        raise refusal(wrong, misnames=misnames)
    bad = {problem.name for problem in wrong}
    machine.bios.stage({name: value for name, value in attributes.items() if name not in bad})
    if apply_time and machine.bios.makes_jobs:
        machine.bios.commit(apply_time.time, apply_time.window)
        return accepted(request, machine.bios.schedule())
    if apply_time:
        _commit(machine, apply_time)
    return _partly(request, attributes, wrong) if wrong else _staged()


def _commit(machine: Machine, wanted: Wanted) -> None:
    machine.bios.commit(wanted.time, wanted.window)
    if wanted.time == "Immediate" and machine.bios.pending:
        machine.restart_host_in(0)
    elif wanted.time == "AtMaintenanceWindowStart" and wanted.window:
        machine.restart_host_in(wanted.window[0] - dt.datetime.now(dt.UTC).timestamp())


def _wrong(machine: Machine, attributes: Mapping[str, Any]) -> list[Problem]:
    bios = machine.board.persona.bios
    found = problems(bios, {**machine.bios.current, **machine.bios.pending}, attributes)
    if machine.board.faults.peek("bios-takes-text"):
        return [one for one in found if not (one.trouble == "type" and isinstance(one.value, str))]
    return found


def _check_ready(machine: Machine) -> None:
    faults = machine.board.faults
    fault = faults.take("bios-not-ready")
    if fault:
        text = "iDRAC is not ready. The configuration values cannot be accessed. Please retry after a few minutes."
        raise RedfishError(400, str(fault["message_id"]), text)
    waits = machine.bios.job or machine.bios.pending
    if waits and faults.take("bios-busy-with-job"):
        text = "The service is temporarily unavailable. Retry in 30 seconds."
        raise RedfishError(503, "ServiceTemporarilyUnavailable", text, "30")


def _check_free(machine: Machine) -> None:
    if machine.bios.job:
        text = "Pending configuration values are already committed, unable to perform another set operation."
        raise RedfishError(400, "IDRAC.2.8.SYS011", text)


def _staged() -> Response:
    return Response(200, {"@Message.ExtendedInfo": [message("Success", _STAGED)]})


def _partly(request: Request, attributes: Mapping[str, Any], wrong: list[Problem]) -> Response:
    """200 with the reason beside each attribute that was not taken (DSP0266, property annotations)."""
    bad = {f"{problem.name}@Message.ExtendedInfo": [explained(problem)] for problem in wrong}
    names = {problem.name for problem in wrong}
    taken = {name: value for name, value in attributes.items() if name not in names}
    return Response(200, {"@odata.id": request.path, "Attributes": {**taken, **bad}})


def _of_host(machine: Machine, document: Document) -> bool:
    host = f"{places.host(machine.board.persona)}/".lower()
    return str(document["@odata.id"]).lower().startswith(host)


def settings_path(machine: Machine) -> str | None:
    """Where the settings object is by what the BMC says, or None."""
    bios = machine.board.document(f"{places.host(machine.board.persona)}/Bios")
    if bios is None:
        raise not_found("Bios")
    fault = machine.board.faults.peek("bios-no-settings")
    settings = bios.get("@Redfish.Settings", {}).get("SettingsObject")
    if settings is None or (fault and fault["how"] == "no-object"):
        return None
    return str(settings["@odata.id"]).rstrip("/")


def _check_there(machine: Machine, path: str) -> None:
    faults = machine.board.faults
    missing_object = faults.peek("bios-no-settings")
    lazy = faults.peek("bios-lazy-settings") and not machine.bios.was_read
    moved = faults.peek("bios-settings-moved")
    if lazy or moved or (missing_object and missing_object["how"] == "no-object"):
        raise not_found(path)


def _moved_from(request: Request) -> str:
    check_host(request)
    path = settings_path(request.machine)
    if path is None or not request.machine.board.faults.peek("bios-settings-moved"):
        raise not_found(request.path)
    return path


ROUTES = (
    Route(f"{SYSTEMS}/{{}}/Bios", patch=change_bios),
    Route(f"{SYSTEMS}/{{}}/Bios/{{}}", patch=change_settings),
    Route(f"{SYSTEMS}/{{}}/Bios/{_MOVED}", get=get_moved, patch=change_moved),
    Route(f"{SYSTEMS}/{{}}/Bios/Actions/Bios.ResetBios", post=reset_bios),
    Route(f"{SYSTEMS}/{{}}/Bios/Actions/Bios.ChangePassword", post=change_password),
)
