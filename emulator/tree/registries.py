"""Registries: what the ids of messages mean, and where the registry of BIOS attributes is."""

from collections.abc import Iterator

from emulator.message_registry import Message, Registry, registries
from emulator.persona.persona import Persona
from emulator.tree.document import ROOT, Document, Entry, collection, resource

REGISTRIES = f"{ROOT}/Registries"


def build(persona: Persona) -> Iterator[Entry]:
    """The collection, and the message registries; tree/bios.py has the registry of attributes."""
    attributes = (persona.bios.registry,) if persona.bios.registry else ()
    names = [_name(registry) for registry in registries().values()]
    yield collection(REGISTRIES, "MessageRegistryFileCollection", "Registry Repository", [*names, *attributes])
    for registry in registries().values():
        yield from _registry(registry)


def _name(registry: Registry) -> str:
    return f"{registry.prefix}.{registry.version}"


def _registry(registry: Registry) -> Iterator[Entry]:
    name = _name(registry)
    uri = f"{REGISTRIES}/{name}/{name}.json"
    file = {
        "Registry": f"{registry.prefix}.{registry.short_version}",
        "Languages": ["en"],
        "Location": [{"Language": "en", "Uri": uri}],
    }
    title = f"{registry.prefix} Message Registry File"
    yield resource(f"{REGISTRIES}/{name}", "MessageRegistryFile.v1_1_3.MessageRegistryFile", title, file)
    properties: Document = {
        "Language": "en",
        "Description": registry.description,
        "RegistryPrefix": registry.prefix,
        "RegistryVersion": registry.version,
        "OwningEntity": registry.owner,
        "Messages": {key: _message(message) for key, message in registry.messages.items()},
    }
    kind, title = "MessageRegistry.v1_6_2.MessageRegistry", f"{registry.prefix} Message Registry"
    _, document = resource(uri, kind, title, properties)
    yield uri, {**document, "Id": name}


def _message(message: Message) -> Document:
    types = ["number" if number in message.numbers else "string" for number in range(1, message.arguments + 1)]
    return {
        "Description": message.text,
        "Message": message.text,
        "MessageSeverity": message.severity,
        "NumberOfArgs": message.arguments,
        **({"ParamTypes": types} if types else {}),
        "Resolution": message.advice,
    }
