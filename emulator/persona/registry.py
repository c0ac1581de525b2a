"""An AttributeRegistry document as part of a persona: for BMCs whose resources were recorded."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from emulator.persona.bios import LIMITS, LOCKS, Bios, BiosAttribute, Condition, Dependency
from emulator.persona.bios_rules import resolve

_VALUES = {**LIMITS, "DisplayName": "display", "HelpText": "help", "MenuPath": "menu"}
_FLAGS = {**LOCKS, "ResetRequired": "reset_required"}
_KINDS: Mapping[type, str] = {bool: "Boolean", int: "Integer"}


def attributes_of(registry: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, BiosAttribute]:
    """The attributes that have a value, as the registry describes them; without a description, by their value."""
    entries = registry.get("RegistryEntries", {}).get("Attributes", [])
    described = {entry.get("AttributeName"): entry for entry in entries}
    return {name: _attribute(described.get(name), value) for name, value in values.items()}


def dependencies_of(registry: Mapping[str, Any], known: Mapping[str, Any]) -> tuple[Dependency, ...]:
    """The dependencies of type Map whose target has a value; what is malformed is left out."""
    entries = registry.get("RegistryEntries", {}).get("Dependencies", [])
    found = (_dependency(entry.get("Dependency", {})) for entry in entries if entry.get("Type") == "Map")
    return tuple(dependency for dependency in found if dependency and dependency.attribute in known)


def bios_of(registry: Mapping[str, Any], values: Mapping[str, Any], **policy: Any) -> Bios:
    """The BIOS whose Attributes were recorded as `values`; `policy` are other fields of Bios."""
    attributes = attributes_of(registry, values)
    dependencies = dependencies_of(registry, attributes)
    terms = "OR" if _joined_by_or(attributes, dependencies, values) else "AND"
    bios = Bios.model_validate(
        {"attributes": attributes, "dependencies": dependencies, "missing_terms": terms, **policy}
    )
    own = {name: _own(attribute, resolve(bios, values).properties.get(name, {})) for name, attribute in _locked(bios)}
    return bios.model_copy(update={"attributes": {**attributes, **own}})


def _joined_by_or(
    attributes: Mapping[str, BiosAttribute], dependencies: tuple[Dependency, ...], values: Mapping[str, Any]
) -> bool:
    """Whether conditions without any MapTerms mean OR: all that follows from it is as it was recorded."""
    several = [dependency for dependency in dependencies if len(dependency.when) > 1]
    if not several or any(condition.terms for dependency in several for condition in dependency.when):
        return False
    resolved = resolve(Bios(attributes=dict(attributes), dependencies=tuple(several), missing_terms="OR"), values)
    locks = (
        getattr(attributes[name], _FLAGS[given]) == value
        for name, properties in resolved.properties.items()
        for given, value in properties.items()
        if given in _FLAGS
    )
    return resolved.values == dict(values) and all(locks)


def _locked(bios: Bios) -> list[tuple[str, BiosAttribute]]:
    return [(name, one) for name, one in bios.attributes.items() if one.read_only or one.hidden or one.gray_out]


def _own(attribute: BiosAttribute, properties: Mapping[str, Any]) -> BiosAttribute:
    """`attribute` without the locks that follow from dependencies: they held when it was recorded, not for ever."""
    follow = {
        field: False for name, field in _FLAGS.items() if name != "ResetRequired" and properties.get(name) is True
    }
    return attribute.model_copy(update=follow)


def _attribute(entry: Mapping[str, Any] | None, value: Any) -> BiosAttribute:
    if entry is None:
        return BiosAttribute.model_validate({"type": _KINDS.get(type(value), "String"), "value": value})
    fields: dict[str, Any] = {"type": entry.get("Type", "String"), "value": value}
    fields |= {field: entry[name] for name, field in _VALUES.items() if entry.get(name) is not None}
    fields |= {field: entry[name] for name, field in _FLAGS.items() if isinstance(entry.get(name), bool)}
    fields |= _values(entry, value)
    if fields["type"] != "Password" and value is not None and not _fits(fields["type"], value):
        fields["type"] = _KINDS.get(type(value), "String")
    return BiosAttribute.model_validate(fields)


def _values(entry: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """Attributes hold ValueNames or, on some BMCs, the texts that people see."""
    listed = entry.get("Value") or []
    names = [str(one.get("ValueName")) for one in listed]
    shown = [str(one.get("ValueDisplayName") or one.get("ValueName")) for one in listed]
    if value is not None and value not in names and value in shown:
        return {"allowed": shown, "names": names}
    return {"allowed": names}


def _fits(kind: str, value: Any) -> bool:
    return _KINDS.get(type(value), "text") == kind if kind in ("Integer", "Boolean") else isinstance(value, str)


def _dependency(entry: Mapping[str, Any]) -> Dependency | None:
    try:
        return Dependency(
            when=tuple(_condition(one) for one in entry.get("MapFrom", ())),
            attribute=entry.get("MapToAttribute", ""),
            property=entry.get("MapToProperty", ""),
            value=entry.get("MapToValue"),
        )
    except ValidationError:
        return None


def _condition(entry: Mapping[str, Any]) -> Condition:
    return Condition(
        attribute=entry.get("MapFromAttribute", ""),
        property=entry.get("MapFromProperty", "CurrentValue"),
        condition=entry.get("MapFromCondition", "EQU"),
        value=entry.get("MapFromValue"),
        terms=entry.get("MapTerms"),
    )
