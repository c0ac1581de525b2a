"""Bios, its settings object and its attribute registry."""

from collections.abc import Iterator

from emulator.persona.bios import LIMITS, LOCKS, Bios, BiosAttribute, Condition, Dependency
from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import ROOT, Document, Entry, action, link, resource

BIOS = "Bios.v1_2_0.Bios"
_SHOWN_WHERE_GIVEN = {"HelpText": "help", "MenuPath": "menu", **LIMITS}
_SHOWN_WHERE_TRUE = {name: field for name, field in LOCKS.items() if name != "ReadOnly"}


def build(persona: Persona) -> Iterator[Entry]:
    """Attributes come from redfish/bios.py; a persona without attributes has no Bios."""
    path = f"{places.host(persona)}/Bios"
    if persona.bios.attributes:
        yield _current(persona.bios, path)
        if persona.bios.settings:
            registry = {"AttributeRegistry": persona.bios.registry} if persona.bios.registry else {}
            pending: Document = {**registry, "Attributes": {}}
            yield resource(f"{path}/{persona.bios.settings}", BIOS, "BIOS Configuration Pending Settings", pending)
    yield from _registries(persona)


def _current(bios: Bios, path: str) -> Entry:
    settings = {
        "@odata.type": "#Settings.v1_3_5.Settings",
        "SettingsObject": link(f"{path}/{bios.settings}"),
        "SupportedApplyTimes": list(bios.apply_times),
        "Messages": [],
    }
    properties = {
        **({"AttributeRegistry": bios.registry} if bios.registry else {}),
        "Attributes": {},
        **({"@Redfish.Settings": settings} if bios.settings else {}),
        "Actions": {
            **action(path, "Bios.ResetBios"),
            **(action(path, "Bios.ChangePassword", PasswordName=bios.passwords) if bios.passwords else {}),
        },
    }
    return resource(path, BIOS, "BIOS Configuration Current Settings", properties)


def _registries(persona: Persona) -> Iterator[Entry]:
    path, registry = f"{ROOT}/Registries", persona.bios.registry
    if registry:
        uri = f"{path}/{registry}/{registry}.json"
        file = {"Registry": registry, "Languages": ["en"], "Location": [{"Language": "en", "Uri": uri}]}
        kind = "MessageRegistryFile.v1_1_3.MessageRegistryFile"
        yield resource(f"{path}/{registry}", kind, "BIOS Attribute Registry File", file)
        kind = "AttributeRegistry.v1_3_6.AttributeRegistry"
        _, document = resource(uri, kind, "BIOS Attribute Registry", _registry(persona))
        yield uri, {**document, "Id": registry}


def _registry(persona: Persona) -> Document:
    bios = persona.bios
    entries: Document = {"Attributes": [_entry(bios, *one) for one in bios.attributes.items()]}
    if bios.dependencies:
        entries["Dependencies"] = [_dependency(one) for one in bios.dependencies]
    menus = sorted({attribute.menu for attribute in bios.attributes.values() if attribute.menu})
    if menus:
        entries["Menus"] = [{"MenuName": menu.rsplit("/", 1)[-1], "MenuPath": menu} for menu in menus]
    return {
        "Language": "en",
        "OwningEntity": persona.system.manufacturer,
        "RegistryVersion": bios.registry_version,
        "SupportedSystems": [{"ProductName": persona.system.model, "SystemId": _alphanumeric(persona.system.id)}],
        "RegistryEntries": entries,
    }


def _alphanumeric(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


def _entry(bios: Bios, name: str, attribute: BiosAttribute) -> Document:
    entry: Document = {
        "AttributeName": name,
        "DisplayName": attribute.display or name,
        "Type": attribute.type,
        "DefaultValue": attribute.value,
        "ReadOnly": attribute.read_only,
        "WriteOnly": attribute.type == "Password",
        "ResetRequired": attribute.reset_required,
    }
    if attribute.allowed:
        numbers = tuple(str(number) for number in range(len(attribute.allowed)))
        names = attribute.names or (numbers if bios.numbered else attribute.allowed)
        pairs = zip(names, attribute.allowed, strict=True)
        entry["Value"] = [{"ValueName": name, "ValueDisplayName": shown} for name, shown in pairs]
    limits = {key: getattr(attribute, field) for key, field in _SHOWN_WHERE_GIVEN.items()}
    flags = {key: True for key, field in _SHOWN_WHERE_TRUE.items() if getattr(attribute, field)}
    return entry | flags | {key: value for key, value in limits.items() if value is not None}


def _dependency(dependency: Dependency) -> Document:
    mapping = {
        "MapFrom": [_condition(condition) for condition in dependency.when],
        "MapToAttribute": dependency.attribute,
        "MapToProperty": dependency.property,
        "MapToValue": dependency.value,
    }
    return {"Dependency": mapping, "DependencyFor": dependency.attribute, "Type": "Map"}


def _condition(condition: Condition) -> Document:
    return {
        "MapFromAttribute": condition.attribute,
        "MapFromProperty": condition.property,
        "MapFromCondition": condition.condition,
        "MapFromValue": condition.value,
        **({"MapTerms": condition.terms} if condition.terms else {}),
    }
