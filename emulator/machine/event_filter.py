"""Which events a subscription or a stream asked for (DSP0266, eventing; DSP0268, EventDestination)."""

from collections.abc import Mapping
from typing import Any

from emulator.machine.board import Board
from emulator.machine.events import Notice

_BY_COLLECTION = {
    "Tasks": "Task",
    "Sessions": "Session",
    "Accounts": "ManagerAccount",
    "FirmwareInventory": "SoftwareInventory",
    "Entries": "LogEntry",
    "Subscriptions": "EventDestination",
    "VirtualMedia": "VirtualMedia",
    "Certificates": "Certificate",
}

Wanted = Mapping[str, Any]


def wants(wanted: Wanted, notice: Notice, resource_type: str) -> bool:
    """Whether a subscription with the properties `wanted` gets `notice`, whose origin is of that type."""
    if wanted.get("EventFormatType", "Event") != "Event":
        return False
    checks = (
        ("RegistryPrefixes", notice.registry),
        ("EventTypes", notice.event_type),
        ("ResourceTypes", resource_type),
        ("Severities", notice.severity),
    )
    if any(wanted.get(name) and value not in wanted[name] for name, value in checks):
        return False
    if notice.registry in (wanted.get("ExcludeRegistryPrefixes") or ()):
        return False
    return _message_wanted(wanted, notice) and _origin_wanted(wanted, notice.origin)


def wants_report(wanted: Wanted, definition: str) -> bool:
    """Whether it gets the metric reports of the definition at that path."""
    if wanted.get("EventFormatType") != "MetricReport":
        return False
    definitions = _paths(wanted.get("MetricReportDefinitions"))
    return not definitions or definition in definitions


def type_of(board: Board, origin: str) -> str:
    """The schema of the resource at `origin`, `Chassis`; empty when nothing is known of it."""
    document = board.document(origin) if origin else None
    if document is not None:
        return str(document.get("@odata.type", "")).lstrip("#").partition(".")[0]
    return _BY_COLLECTION.get(origin.rpartition("/")[0].rpartition("/")[2], "")


def _message_wanted(wanted: Wanted, notice: Notice) -> bool:
    key = _without_version(notice.message_id)
    included = wanted.get("MessageIds")
    if included and key not in {_without_version(one) for one in included}:
        return False
    return key not in {_without_version(one) for one in wanted.get("ExcludeMessageIds") or ()}


def _without_version(message_id: str) -> tuple[str, str]:
    prefix, _, rest = message_id.partition(".")
    return prefix, rest.rpartition(".")[2]


def _origin_wanted(wanted: Wanted, origin: str) -> bool:
    origins = _paths(wanted.get("OriginResources"))
    if not origins or origin in origins:
        return True
    return bool(wanted.get("SubordinateResources")) and any(origin.startswith(f"{one}/") for one in origins)


def _paths(links: Any) -> list[str]:
    return [str(link["@odata.id"] if isinstance(link, dict) else link).rstrip("/") for link in links or ()]
