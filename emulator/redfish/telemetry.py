"""TelemetryService: reports made of the resources that they are about, at the moment when they are read."""

import functools
import re
import time
from collections.abc import Iterator
from typing import Any

from emulator.machine.event_document import moment
from emulator.machine.machine import Machine
from emulator.machine.telemetry import Due
from emulator.redfish import live, written
from emulator.redfish.errors import missing, not_found, not_in_list, not_writable, unknown_property
from emulator.redfish.http import Request, Response, no_content, ok
from emulator.redfish.router import Route
from emulator.tree.document import Document, link
from emulator.tree.telemetry import DEFINITIONS, REPORTS, SERVICE, expanded

_KIND = "MetricReport.v1_4_2.MetricReport"
_DURATION = re.compile(r"^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$")
_UPDATES = ("Overwrite", "AppendWrapsWhenFull", "AppendStopsWhenFull", "NewReport")
_RULES: dict[str, written.Rule] = {
    "MetricReportDefinitionEnabled": bool,
    "MetricReportDefinitionType": ("Periodic", "OnRequest", "OnChange"),
    "ReportUpdates": _UPDATES,
    "SuppressRepeatedMetricValue": bool,
}


def attach(machine: Machine) -> None:
    """Let the reports of `machine` be sent by themselves."""
    machine.telemetry.due = functools.partial(due_reports, machine)


async def get_report(request: Request) -> Response:
    """One report, of now."""
    report = make_report(request.machine, request.parameters[0])
    return ok(_KIND, request.path, report)


async def change_definition(request: Request) -> Response:
    """PATCH of a MetricReportDefinition."""
    document = live.show(request.machine, request.path)
    if document is None:
        raise not_found(request.path)
    changes: dict[str, Any] = {}
    for name, value in request.json().items():
        if name.startswith("@"):
            continue
        if name == "Schedule":
            changes[name] = _schedule(value)
        elif name in _RULES:
            changes[name] = written.checked(_RULES[name], name, value)
        else:
            raise not_writable(name) if name in document else unknown_property(name)
    written.keep(request.machine, request.path, changes)
    return no_content()


async def submit_test_report(request: Request) -> Response:
    """TelemetryService.SubmitTestMetricReport: send a report with the given values to whoever waits for reports."""
    if request.machine.board.document(SERVICE) is None:
        raise not_found(request.path)
    body = request.json(("MetricReportName", "GeneratedMetricReportValues"))
    name = request.text(body, "MetricReportName")
    if "GeneratedMetricReportValues" not in body:
        raise missing("GeneratedMetricReportValues")
    values = body["GeneratedMetricReportValues"]
    report = {"Id": name, "Name": name, "MetricValues": values if isinstance(values, list) else [values]}
    definition = f"{DEFINITIONS}/{name}"
    request.machine.telemetry.send(definition, ok(_KIND, f"{REPORTS}/{name}", report).document or {})
    return no_content()


def make_report(machine: Machine, name: str) -> dict[str, Any]:
    """The report of that name. Raises RedfishError 404."""
    definition = live.show(machine, f"{DEFINITIONS}/{name}")
    if definition is None:
        raise not_found(f"{REPORTS}/{name}")
    now = moment(time.time())
    return {
        "Id": name,
        "Name": name,
        "MetricReportDefinition": link(f"{DEFINITIONS}/{name}"),
        "Timestamp": now,
        "MetricValues": list(_values(machine, definition, now)),
    }


def due_reports(machine: Machine) -> Iterator[Due]:
    """The reports that are sent by themselves, as their definitions say now."""
    collection = machine.board.document(DEFINITIONS) or {}
    for member in collection.get("Members", ()):
        path = member["@odata.id"]
        definition = live.show(machine, path) or {}
        sent = "RedfishEvent" in definition.get("ReportActions", ())
        periodic = definition.get("MetricReportDefinitionType") == "Periodic"
        if sent and periodic and definition.get("MetricReportDefinitionEnabled", True):
            seconds = _seconds(str(definition.get("Schedule", {}).get("RecurrenceInterval", ""))) or 60.0
            name = path.rpartition("/")[2]
            yield Due(path, seconds, functools.partial(_whole, machine, name))


def _whole(machine: Machine, name: str) -> dict[str, Any]:
    return ok(_KIND, f"{REPORTS}/{name}", make_report(machine, name)).document or {}


def _values(machine: Machine, definition: Document, now: str) -> Iterator[dict[str, Any]]:
    known: dict[str, Document | None] = {}
    stale = machine.board.faults.peek("metrics-stale")
    for wanted in expanded(definition):
        path, _, pointer = wanted.partition("#")
        if path not in known:
            document = known[path] = live.show(machine, path)
            if document is not None:
                live.measure(machine, document)
        found, value = _at(known[path], pointer or "/Reading")
        if found:
            entry = {"MetricProperty": wanted, "MetricValue": _text(value), "Timestamp": now}
            yield {**entry, **_staleness()} if stale and stale["property"] in wanted else entry


def _staleness() -> dict[str, Any]:
    kind = "#NvidiaMetricReport.v1_0_0.NvidiaMetricReport"
    return {"Oem": {"Nvidia": {"@odata.type": kind, "MetricValueStale": True}}}


def _at(document: Document | None, pointer: str) -> tuple[bool, Any]:
    value: Any = document
    for name in pointer.strip("/").split("/"):
        if not isinstance(value, dict) or name not in value:
            return False, None
        value = value[name]
    return True, value


def _text(value: Any) -> str:
    """As HGX writes values: six digits, true and false, nan for what cannot be read."""
    if value is None:
        return "nan"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def _schedule(value: Any) -> dict[str, Any]:
    interval = value.get("RecurrenceInterval") if isinstance(value, dict) else None
    if not isinstance(interval, str) or not _seconds(interval):
        raise not_in_list(interval, "Schedule/RecurrenceInterval")
    return {"RecurrenceInterval": interval}


def _seconds(duration: str) -> float:
    found = _DURATION.match(duration)
    days, hours, minutes, seconds = (float(part or 0) for part in found.groups()) if found else (0.0,) * 4
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


ROUTES = (
    Route(f"{REPORTS}/{{}}", get=get_report),
    Route(f"{DEFINITIONS}/{{}}", patch=change_definition),
    Route(f"{SERVICE}/Actions/TelemetryService.SubmitTestMetricReport", post=submit_test_report),
)
