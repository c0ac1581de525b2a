"""The service root."""

from collections.abc import Iterator

from emulator.persona.persona import Persona
from emulator.tree.document import ROOT, Document, Entry, link, resource
from emulator.tree.places import SESSIONS, TASK_SERVICE

_UUIDS = {"system": "${uuid}", "own": "${uuid:service}", "absent": None}


def build(persona: Persona) -> Iterator[Entry]:
    """ServiceRoot."""
    root = persona.root
    shown = {"Vendor": root.vendor, "Product": root.product, "UUID": _UUIDS[root.uuid]}
    properties: Document = {
        "RedfishVersion": root.redfish_version,
        **{name: value for name, value in shown.items() if value},
        **{name: link(f"{ROOT}/{name}") for name in service_names(persona)},
        "Tasks": link(TASK_SERVICE),
        "Links": {"Sessions": link(SESSIONS)},
        "ProtocolFeaturesSupported": _features(persona),
    }
    if root.vendor == "Dell":
        oem = {"ServiceTag": "${serial}", "ManagerMACAddress": "${mac:-1}", "IsBranded": 0}
        properties["Oem"] = {"Dell": oem}
    path, document = resource(ROOT, "ServiceRoot.v1_17_0.ServiceRoot", "Root Service", properties)
    yield path, {**document, "Id": root.id}


def service_names(persona: Persona) -> tuple[str, ...]:
    """The links of the root, in order."""
    services = persona.services
    optional = {
        "EventService": services.events,
        "JobService": persona.tasks.job_service,
        "TelemetryService": services.telemetry,
        "CertificateService": services.certificates,
        "ComponentIntegrity": services.component_integrity,
        "Fabrics": persona.nvswitches.count > 0,
    }
    always = ("Systems", "Chassis", "Managers", "SessionService", "AccountService", "UpdateService", "Registries")
    return (*always, *(name for name, there in optional.items() if there))


def _features(persona: Persona) -> Document:
    protocol, expand = persona.protocol, persona.expand
    return {
        "ExcerptQuery": False,
        "FilterQuery": protocol.filter,
        "OnlyMemberQuery": protocol.only,
        "SelectQuery": protocol.select,
        "TopSkipQuery": protocol.top_skip,
        "DeepOperations": {"DeepPATCH": False, "DeepPOST": False},
        "ExpandQuery": {
            "Links": expand.links,
            "NoLinks": expand.no_links,
            "ExpandAll": expand.expand_all,
            "Levels": expand.levels,
            **({"MaxLevels": expand.max_levels} if expand.levels else {}),
        },
    }
