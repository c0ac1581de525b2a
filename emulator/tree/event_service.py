"""EventService; its subscriptions come and go, see redfish/event_service.py."""

from collections.abc import Iterator

from emulator.message_registry import registries
from emulator.persona.persona import Persona
from emulator.tree.document import HEALTHY, Document, Entry, action, resource
from emulator.tree.document import link as to
from emulator.tree.places import EVENT_SERVICE, SUBSCRIPTIONS

RESOURCE_TYPES = (
    "Chassis",
    "ComputerSystem",
    "Manager",
    "ManagerAccount",
    "Sensor",
    "Session",
    "SoftwareInventory",
    "Task",
    "VirtualMedia",
)
_FILTERS = (
    "EventFormatType",
    "MessageId",
    "MetricReportDefinition",
    "OriginResource",
    "RegistryPrefix",
    "ResourceType",
)


def prefixes() -> list[str]:
    """The registries whose messages are sent as events."""
    return [prefix for prefix in registries() if prefix != "Base"]


def build(persona: Persona) -> Iterator[Entry]:
    """EventService, where the persona has it."""
    if not persona.services.events:
        return
    properties: Document = {
        "ServiceEnabled": True,
        "DeliveryRetryAttempts": 3,
        "DeliveryRetryIntervalSeconds": 30,
        "EventFormatTypes": ["Event", *(["MetricReport"] if persona.services.telemetry else [])],
        "RegistryPrefixes": prefixes(),
        "ResourceTypes": list(RESOURCE_TYPES),
        "SubordinateResourcesSupported": True,
        "IncludeOriginOfConditionSupported": False,
        "ExcludeRegistryPrefix": True,
        "ExcludeMessageId": True,
        "Severities": ["OK", "Warning", "Critical"],
        "Status": HEALTHY,
        "Subscriptions": to(SUBSCRIPTIONS),
        "Actions": action(EVENT_SERVICE, "EventService.SubmitTestEvent"),
    }
    if persona.services.sse:
        properties["ServerSentEventUri"] = persona.services.sse_uri
        properties["SSEFilterPropertiesSupported"] = {
            **dict.fromkeys(_FILTERS, True),
            "SubordinateResources": True,
        }
    yield resource(EVENT_SERVICE, "EventService.v1_10_0.EventService", "Event Service", properties)
