"""Bios, its settings object and its attribute registry."""

from collections.abc import Iterator

from emulator.persona.bios import BiosAttribute
from emulator.persona.persona import Persona
from emulator.tree.document import ROOT, Document, Entry, action, collection, link, resource
from emulator.tree.systems import SYSTEMS

BIOS = "Bios.v1_2_0.Bios"
_BOUNDS = (("LowerBound", "lower"), ("UpperBound", "upper"))


def build(persona: Persona) -> Iterator[Entry]:
    """Attributes come from redfish/bios.py; a persona without attributes has no Bios."""
    bios, path = persona.bios, f"{SYSTEMS}/{persona.system.id}/Bios"
    if bios.attributes:
        settings = {
            "@odata.type": "#Settings.v1_3_5.Settings",
            "SettingsObject": link(f"{path}/{bios.settings}"),
            "SupportedApplyTimes": ["OnReset"],
            "Messages": [],
        }
        properties = {
            **({"AttributeRegistry": bios.registry} if bios.registry else {}),
            "Attributes": {},
            "@Redfish.Settings": settings,
            "Actions": action(path, "Bios.ResetBios"),
        }
        yield resource(path, BIOS, "BIOS Configuration Current Settings", properties)
        pending: Document = {"Attributes": {}}
        yield resource(f"{path}/{bios.settings}", BIOS, "BIOS Configuration Pending Settings", pending)
    yield from _registries(persona)


def _registries(persona: Persona) -> Iterator[Entry]:
    path, registry = f"{ROOT}/Registries", persona.bios.registry
    name = "Registry Repository"
    yield collection(path, "MessageRegistryFileCollection", name, [registry] if registry else [])
    if registry:
        uri = f"{path}/{registry}/{registry}.json"
        file = {"Registry": registry, "Languages": ["en"], "Location": [{"Language": "en", "Uri": uri}]}
        kind = "MessageRegistryFile.v1_1_3.MessageRegistryFile"
        yield resource(f"{path}/{registry}", kind, "BIOS Attribute Registry File", file)
        properties = {
            "Language": "en",
            "OwningEntity": persona.system.manufacturer,
            "RegistryVersion": "1.0.0",
            "RegistryEntries": {"Attributes": [_entry(*one) for one in persona.bios.attributes.items()]},
        }
        kind = "AttributeRegistry.v1_3_6.AttributeRegistry"
        _, document = resource(uri, kind, "BIOS Attribute Registry", properties)
        yield uri, {**document, "Id": registry}


def _entry(name: str, attribute: BiosAttribute) -> Document:
    entry: Document = {
        "AttributeName": name,
        "DisplayName": name,
        "Type": attribute.type,
        "DefaultValue": attribute.value,
        "ReadOnly": attribute.read_only,
        "ResetRequired": True,
    }
    if attribute.allowed:
        entry["Value"] = [{"ValueName": value, "ValueDisplayName": value} for value in attribute.allowed]
    return entry | {key: getattr(attribute, field) for key, field in _BOUNDS if getattr(attribute, field) is not None}
