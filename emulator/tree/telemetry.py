"""TelemetryService: which metrics there are, and the reports that hold them; values come from redfish/telemetry.py."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from emulator.persona.persona import Persona
from emulator.tree.document import HEALTHY, ROOT, Document, Entry, action, collection, link, resource

SERVICE = f"{ROOT}/TelemetryService"
DEFINITIONS = f"{SERVICE}/MetricReportDefinitions"
REPORTS = f"{SERVICE}/MetricReports"
METRICS = f"{SERVICE}/MetricDefinitions"
_WILD = {"Processors": "ProcessorId", "Memory": "MemoryId", "Ports": "PortId"}  # what follows is a wildcard
_COUNTERS = ("EnergyJoules", "EnergykWh")
_SENSOR = "Sensor"

Documents = Mapping[str, Document]


def build(persona: Persona, documents: Documents) -> Iterator[Entry]:
    """The service for what is in `documents`, all other resources of the persona."""
    if not persona.services.telemetry:
        return
    reports = {f"{_prefix(persona)}{name}_0": found for name, found in _reports(documents).items() if found}
    metrics = dict(_metrics(documents))
    parts = {"MetricDefinitions": METRICS, "MetricReportDefinitions": DEFINITIONS, "MetricReports": REPORTS}
    properties: Document = {
        "ServiceEnabled": True,
        "MaxReports": len(reports),
        "MinCollectionInterval": "PT1S",
        "Status": HEALTHY,
        **{name: link(path) for name, path in parts.items()},
        "Actions": action(SERVICE, "TelemetryService.SubmitTestMetricReport"),
    }
    yield resource(SERVICE, "TelemetryService.v1_3_1.TelemetryService", "Telemetry Service", properties)
    yield collection(METRICS, "MetricDefinitionCollection", "Metric Definition Collection", metrics)
    for name, definition in metrics.items():
        yield resource(f"{METRICS}/{name}", "MetricDefinition.v1_3_1.MetricDefinition", name, definition)
    yield collection(DEFINITIONS, "MetricReportDefinitionCollection", "Metric Report Definition Collection", reports)
    yield collection(REPORTS, "MetricReportCollection", "Metric Report Collection", reports)
    for name, found in reports.items():
        yield _definition(name, found)


def expanded(definition: Document) -> Iterator[str]:
    """The metric properties of a definition, with every combination of its wildcards."""
    values = {one["Name"]: one.get("Values") or () for one in definition.get("Wildcards") or ()}
    for wanted in definition.get("MetricProperties") or ():
        names = [name for name in values if f"{{{name}}}" in wanted]
        for chosen in product(*(values[name] for name in names)):
            found = wanted
            for name, value in zip(names, chosen, strict=True):
                found = found.replace(f"{{{name}}}", value)
            yield found


def _prefix(persona: Persona) -> str:
    return "HGX_" if persona.gpus.ids and persona.gpus.manufacturer == "NVIDIA" else ""


def _reports(documents: Documents) -> dict[str, list[str]]:
    """The metrics of each report, in the order in which HGX has them."""
    return {
        "PlatformEnvironmentMetrics": [path for path, _ in _of(documents, _SENSOR)],
        "ProcessorMetrics": _leaves(documents, "ProcessorMetrics", oem=False),
        "ProcessorGPMMetrics": _leaves(documents, "ProcessorMetrics", oem=True),
        "ProcessorPortMetrics": [
            *(
                f"{path}#/{name}"
                for path, one in _ports(documents)
                for name in ("CurrentSpeedGbps", "LinkStatus")
                if name in one
            ),
            *_leaves(documents, "PortMetrics", oem=False, below="/Processors/"),
        ],
        "ProcessorPortGPMMetrics": _leaves(documents, "PortMetrics", oem=True, below="/Processors/"),
        "MemoryMetrics": _leaves(documents, "MemoryMetrics", oem=False),
        "HealthMetrics": [
            f"{path}#/Status/{name}"
            for kind in ("Chassis", "ComputerSystem")
            for path, one in _of(documents, kind)
            for name in ("Health", "HealthRollup")
            if name in one.get("Status", {})
        ],
    }


def _definition(name: str, found: Sequence[str]) -> Entry:
    templates, wildcards = _folded(found)
    path = f"{DEFINITIONS}/{name}"
    properties: Document = {
        "MetricReportDefinitionType": "Periodic",
        "MetricReportDefinitionEnabled": True,
        "Schedule": {"RecurrenceInterval": "PT60S"},
        "ReportActions": ["LogToMetricReportsCollection", "RedfishEvent"],
        "ReportUpdates": "Overwrite",
        "SuppressRepeatedMetricValue": False,
        "MetricProperties": templates,
        **({"Wildcards": [{"Name": key, "Values": values} for key, values in wildcards.items()]} if wildcards else {}),
        "MetricReport": link(f"{REPORTS}/{name}"),
        "Status": HEALTHY,
    }
    return resource(path, "MetricReportDefinition.v1_4_2.MetricReportDefinition", name, properties)


def _metrics(documents: Documents) -> Iterator[tuple[str, Document]]:
    """One definition for each kind of sensor."""
    kinds: dict[str, list[tuple[str, Document]]] = {}
    for path, one in _of(documents, _SENSOR):
        kinds.setdefault(str(one.get("ReadingType", "Other")), []).append((path, one))
    for kind, sensors in kinds.items():
        yield (
            kind,
            {
                "MetricType": "Counter" if kind in _COUNTERS else "Gauge",
                "MetricDataType": "Decimal",
                "Implementation": "PhysicalSensor",
                "Units": sensors[0][1].get("ReadingUnits"),
                "IsLinear": True,
                "MetricProperties": [f"{path}#/Reading" for path, _ in sensors],
            },
        )


def _of(documents: Documents, kind: str) -> Iterator[Entry]:
    mark = f"#{kind}."
    return ((path, one) for path, one in documents.items() if str(one.get("@odata.type", "")).startswith(mark))


def _ports(documents: Documents) -> Iterator[Entry]:
    return ((path, one) for path, one in _of(documents, "Port") if "/Processors/" in path)


def _leaves(documents: Documents, kind: str, *, oem: bool, below: str = "") -> list[str]:
    """Every value in the resources of one kind, as `path#/pointer`."""
    return [
        f"{path}#{pointer}"
        for path, one in _of(documents, kind)
        if below in path
        for pointer in _pointers(one, "")
        if pointer.startswith("/Oem/") == oem
    ]


def _pointers(value: Any, at: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            if "@" not in name and name not in ("Id", "Name", "Description", "Links", "Actions", "Status"):
                yield from _pointers(part, f"{at}/{name}")
    elif not isinstance(value, list):
        yield at


def _folded(found: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The same properties with wildcards where every combination exists; as they are where not."""
    wildcards: dict[str, list[str]] = {}
    templates: dict[str, None] = {}
    for one in found:
        templates[_template(one, wildcards)] = None
    definition = {
        "MetricProperties": list(templates),
        "Wildcards": [{"Name": k, "Values": v} for k, v in wildcards.items()],
    }
    if wildcards and sorted(expanded(definition)) == sorted(found):
        return list(templates), wildcards
    return list(found), {}


def _template(one: str, wildcards: dict[str, list[str]]) -> str:
    path, mark, pointer = one.partition("#")
    segments = path.split("/")
    for index, segment in enumerate(segments[:-1]):
        name = _WILD.get(segment)
        if name:
            values = wildcards.setdefault(name, [])
            if segments[index + 1] not in values:
                values.append(segments[index + 1])
            segments[index + 1] = f"{{{name}}}"
    return "/".join(segments) + mark + pointer
