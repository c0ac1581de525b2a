"""EventDestination: what a subscription may say, and how it is shown (DSP0268)."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from emulator.machine.machine import Machine
from emulator.redfish.errors import RedfishError, not_in_list, wrong_type
from emulator.tree.document import action
from emulator.tree.event_service import prefixes
from emulator.tree.places import SUBSCRIPTIONS

KIND = "EventDestination.v1_13_0.EventDestination"
_FORMATS = ("Event", "MetricReport")
_POLICIES = ("TerminateAfterRetries", "SuspendRetries", "RetryForever", "RetryForeverWithBackoff")
_TYPES = ("StatusChange", "ResourceUpdated", "ResourceAdded", "ResourceRemoved", "Alert", "MetricReport", "Other")
_SEVERITIES = ("OK", "Warning", "Critical")
_TEXTS = ("Destination", "Protocol", "Context", "EventFormatType", "DeliveryRetryPolicy", "SubscriptionType")
_FLAGS = ("SubordinateResources", "VerifyCertificate", "IncludeOriginOfCondition")
_LISTS = (
    "EventTypes",
    "ExcludeMessageIds",
    "ExcludeRegistryPrefixes",
    "MessageIds",
    "RegistryPrefixes",
    "ResourceTypes",
    "Severities",
)
_LINKS = ("MetricReportDefinitions", "OriginResources")
_OBJECTS = ("HttpHeaders", *_LINKS)
CHANGEABLE = ("Context", "DeliveryRetryPolicy", "HttpHeaders", "VerifyCertificate")
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "EventFormatType": _FORMATS,
    "DeliveryRetryPolicy": _POLICIES,
    "SubscriptionType": ("RedfishEvent",),
    "Protocol": ("Redfish",),
    "EventTypes": _TYPES,
    "Severities": _SEVERITIES,
}
PROPERTIES = (*_TEXTS, *_FLAGS, *_LISTS, *_OBJECTS)


def shown(machine: Machine, identity: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a subscription; what it sends as headers is nobody else's business."""
    document = {
        "Id": identity,
        "Name": f"Event subscription {identity}",
        "Context": "",
        "Protocol": "Redfish",
        "SubscriptionType": "RedfishEvent",
        "EventFormatType": "Event",
        "DeliveryRetryPolicy": "TerminateAfterRetries",
        "HttpHeaders": [],
        "Status": {"State": "Disabled" if record.get("Suspended") else "Enabled", "Health": "OK"},
        **{name: value for name, value in record.items() if name not in ("HttpHeaders", "Suspended")},
    }
    if document["SubscriptionType"] != "SSE":
        path = f"{SUBSCRIPTIONS}/{identity}"
        document["Actions"] = {
            **action(path, "EventDestination.ResumeSubscription"),
            **action(path, "EventDestination.SuspendSubscription"),
        }
    if machine.board.faults.peek("event-context-absent"):
        del document["Context"]
    return document


def checked(name: str, value: Any) -> Any:
    """The value of a property when it has the right type and is allowable. Raises RedfishError 400."""
    if value is None and name == "Context":
        return ""
    if name in (*_LISTS, *_OBJECTS):
        return _checked_list(name, [] if value is None else value)
    if not isinstance(value, bool if name in _FLAGS else str):
        raise wrong_type(value, name)
    if value not in _CHOICES.get(name, (value,)):
        raise not_in_list(value, name)
    return value


def check_destination(destination: str) -> None:
    """Raise RedfishError 400 unless it is an address that can be sent to."""
    try:
        parts = urlsplit(destination)
        good = parts.scheme in ("http", "https") and parts.hostname and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        text = f"The value '{destination}' for the property Destination is of a different format than it can accept."
        raise RedfishError(400, "PropertyValueFormatError", text, destination, "Destination")


def _checked_list(name: str, value: Any) -> list[Any]:
    inside = dict if name in _OBJECTS else str
    if not isinstance(value, list) or not all(isinstance(one, inside) for one in value):
        raise wrong_type(value, name)
    if name in _LINKS and not all(isinstance(one.get("@odata.id"), str) for one in value):
        raise wrong_type(value, name)
    allowed = prefixes() if name == "RegistryPrefixes" else _CHOICES.get(name)
    for one in value:
        if allowed is not None and one not in allowed:
            raise not_in_list(one, name)
    return value
