"""Registries: the attribute registry of the BIOS, where the persona has one."""

from typing import Any

from emulator.persona.bios import BiosAttribute
from emulator.persona.persona import Persona
from emulator.redfish.errors import not_found
from emulator.redfish.http import Request, Response, collection, ok
from emulator.redfish.router import Route

REGISTRIES = "/redfish/v1/Registries"
_BOUNDS = (("LowerBound", "lower"), ("UpperBound", "upper"))


async def get_registries(request: Request) -> Response:
    """The registry files."""
    registry = request.machine.board.persona.bios.registry
    return collection(
        "MessageRegistryFileCollection", REGISTRIES, "Registry Repository", [registry] if registry else []
    )


async def get_file(request: Request) -> Response:
    """Where the registry is."""
    registry = _check(request)
    document = {
        "Id": registry,
        "Name": "BIOS Attribute Registry File",
        "Registry": registry,
        "Languages": ["en"],
        "Location": [{"Language": "en", "Uri": f"{REGISTRIES}/{registry}/{registry}.json"}],
    }
    return ok("MessageRegistryFile.v1_1_3.MessageRegistryFile", f"{REGISTRIES}/{registry}", document)


async def get_registry(request: Request) -> Response:
    """The registry itself."""
    registry = _check(request)
    if request.parameters[1] != f"{registry}.json":
        raise not_found(request.path)
    persona = request.machine.board.persona
    document = {
        "Id": registry,
        "Name": "BIOS Attribute Registry",
        "Language": "en",
        "OwningEntity": persona.system.manufacturer,
        "RegistryVersion": "1.0.0",
        "RegistryEntries": {"Attributes": _entries(persona)},
    }
    return ok("AttributeRegistry.v1_3_6.AttributeRegistry", request.path, document)


def _check(request: Request) -> str:
    registry = request.machine.board.persona.bios.registry
    if registry is None or request.parameters[0] != registry:
        raise not_found(request.path)
    return registry


def _entries(persona: Persona) -> list[dict[str, Any]]:
    return [_entry(name, attribute) for name, attribute in persona.bios.attributes.items()]


def _entry(name: str, attribute: BiosAttribute) -> dict[str, Any]:
    entry: dict[str, Any] = {
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


ROUTES = (
    Route(REGISTRIES, get=get_registries),
    Route(f"{REGISTRIES}/{{}}", get=get_file),
    Route(f"{REGISTRIES}/{{}}/{{}}", get=get_registry),
)
