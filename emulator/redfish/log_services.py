"""LogServices: their entries, clearing them, and diagnostic data."""

import asyncio
import datetime as dt
import time
from typing import Any

import orjson

from emulator.machine.events import Notice
from emulator.machine.logs import Record
from emulator.machine.machine import Machine
from emulator.persona.service import Log
from emulator.redfish.errors import action_value, not_found
from emulator.redfish.http import Request, Response, no_content, ok
from emulator.redfish.router import Route
from emulator.tree.document import Document
from emulator.tree.logs import log_path

_ENTRY = "LogEntry.v1_15_0.LogEntry"
_SENSOR_TYPE = "Event Logging Disabled"  # of an entry of a SEL that is about the log itself
_STARTED = time.time()
_SEVERITY_NUMBER = {"OK": 0, "Warning": 1, "Critical": 2}
_OWNERS = ("Systems", "Managers", "Chassis")


def measure(machine: Machine, document: Document) -> None:
    """The clock of a log."""
    if "DateTime" in document:
        document["DateTime"] = _moment(machine, time.time())


async def get_entries(request: Request) -> Response:
    """The entries of a log, whole."""
    machine, log = request.machine, _log(request)
    await _misbehave(request)
    entries = [_entry(machine, request.path, log, record) for record in machine.logs.records(log)]
    members = [{"@odata.type": f"#{_ENTRY}", **entry} for entry in entries]
    document = {
        "Name": "Log Entry Collection",
        "Description": f"The entries of the log {log.id}",
        "Members@odata.count": len(members),
        "Members": members,
    }
    return ok("LogEntryCollection.LogEntryCollection", request.path, document)


async def get_entry(request: Request) -> Response:
    """One entry."""
    machine, log = request.machine, _log(request)
    await _misbehave(request)
    record = machine.logs.find(log, request.parameters[2])
    if record is None:
        raise not_found(request.path)
    return ok(_ENTRY, request.path, _entry(machine, request.path.rpartition("/")[0], log, record))


async def get_data(request: Request) -> Response:
    """The file that belongs to an entry."""
    machine, log = request.machine, _log(request)
    record = machine.logs.find(log, request.parameters[2])
    if record is None or not record.data:
        raise not_found(request.path)
    return Response(200, headers={"Content-Type": "application/octet-stream"}, content=record.data.encode())


async def clear(request: Request) -> Response:
    """LogService.ClearLog."""
    request.machine.logs.clear(_log(request))
    return no_content()


async def collect(request: Request) -> Response:
    """LogService.CollectDiagnosticData: an entry whose file says what the BMC knows of its machine."""
    machine, log = request.machine, _log(request)
    if not log.collects:
        raise not_found(request.path)
    body = request.json(("DiagnosticDataType", "OEMDiagnosticDataType", "TargetDevice", "TransferURI"))
    kind = request.text(body, "DiagnosticDataType")
    if kind not in ("Manager", "OEM"):
        raise action_value(kind, "DiagnosticDataType", "LogService.CollectDiagnosticData")
    key, events = "OpenBMC.DiagnosticDataCollected", machine.events
    notice = Notice(events.next(), key, (kind,), "", time.time(), "bmc")
    record = machine.logs.add(log, notice, _diagnostics(machine))
    path = f"{request.path.rpartition('/Actions/')[0]}/Entries"
    response = ok(_ENTRY, f"{path}/{record.id}", _entry(machine, path, log, record))
    response.status, response.headers = 201, {"Location": f"{path}/{record.id}"}
    return response


def _log(request: Request) -> Log:
    persona = request.machine.board.persona
    for log in request.machine.logs.services:
        if request.path.startswith(f"{log_path(persona, log)}/"):
            return log
    raise not_found(request.path)


async def _misbehave(request: Request) -> None:
    faults = request.machine.board.faults
    slow = faults.take("log-entries-slow")
    if slow:
        await asyncio.sleep(float(slow["seconds"]))
    if faults.take("log-entries-missing"):
        raise not_found(request.path)


def _entry(machine: Machine, path: str, log: Log, record: Record) -> dict[str, Any]:
    notice = record.notice
    entry: dict[str, Any] = {
        "@odata.id": f"{path}/{record.id}",
        "Id": str(record.id),
        "Name": f"Log Entry {record.id}",
        "EntryType": log.kind,
        "Severity": notice.severity,
        "Created": _moment(machine, notice.at),
        "Message": notice.message,
        "MessageId": notice.message_id,
        "MessageArgs": list(notice.arguments),
        "Resolution": notice.resolution,
        **({"Links": {"OriginOfCondition": {"@odata.id": notice.origin}}} if notice.origin else {}),
    }
    if log.kind == "SEL":
        entry |= _of_sel(notice)
    if record.data:
        size = {"AdditionalDataSizeBytes": len(record.data), "DiagnosticDataType": notice.arguments[0]}
        entry |= {"AdditionalDataURI": f"{path}/{record.id}/attachment", **size}
    return entry


def _of_sel(notice: Notice) -> dict[str, Any]:
    """What IPMI had in a record."""
    return {
        "EntryCode": "Assert",
        "SensorType": notice.sensor or _SENSOR_TYPE,
        "SensorNumber": sum((notice.sensor or _SENSOR_TYPE).encode()) % 255,
        "GeneratorId": "0x0020",
        "EventId": f"0x{_SEVERITY_NUMBER[notice.severity]:02X}{sum(notice.key.encode()) % 65536:04X}",
    }


def _diagnostics(machine: Machine) -> str:
    truth = machine.truth()
    known = {name: truth[name] for name in ("name", "persona", "power", "phase", "boots", "resets", "bmc_resets")}
    versions = {key: machine.board.version(key) for key in machine.board.persona.slots}
    return orjson.dumps({**known, "firmware": versions}, option=orjson.OPT_INDENT_2).decode()


def _moment(machine: Machine, at: float) -> str:
    """A time as the clock of the BMC has it; a fault lets the clock begin with the epoch."""
    if machine.board.faults.peek("log-clock-1970"):
        at = max(0.0, at - _STARTED)
    return dt.datetime.fromtimestamp(at, dt.UTC).isoformat(timespec="seconds")


def _routes(owner: str) -> tuple[Route, ...]:
    service = f"/redfish/v1/{owner}/{{}}/LogServices/{{}}"
    return (
        Route(f"{service}/Entries", get=get_entries, lasting=True),
        Route(f"{service}/Entries/{{}}", get=get_entry, lasting=True),
        Route(f"{service}/Entries/{{}}/attachment", get=get_data),
        Route(f"{service}/Actions/LogService.ClearLog", post=clear),
        Route(f"{service}/Actions/LogService.CollectDiagnosticData", post=collect),
    )


ROUTES = tuple(route for owner in _OWNERS for route in _routes(owner))
