"""The tree of a persona: every builder, one place."""

from collections.abc import Callable, Iterator

from emulator.persona.persona import Persona
from emulator.tree import (
    assembly,
    bios,
    boot,
    certificates,
    chassis,
    component_integrity,
    cycles,
    ethernet_interfaces,
    event_service,
    fabrics,
    logs,
    managers,
    memory,
    network_adapters,
    pcie,
    power,
    processors,
    registries,
    root,
    secure_boot,
    sensors,
    services,
    storage,
    systems,
    telemetry,
    thermal,
    update_service,
    virtual_media,
)
from emulator.tree.document import Document, Entry
from emulator.tree.tree import Tree

BUILDERS: tuple[Callable[[Persona], Iterator[Entry]], ...] = (
    root.build,
    services.build,
    update_service.build,
    systems.build,
    bios.build,
    boot.build,
    secure_boot.build,
    processors.build,
    memory.build,
    storage.build,
    ethernet_interfaces.build,
    chassis.build,
    sensors.build,
    power.build,
    thermal.build,
    pcie.build,
    network_adapters.build,
    assembly.build,
    fabrics.build,
    managers.build,
    event_service.build,
    logs.build,
    registries.build,
    virtual_media.build,
    certificates.build,
    component_integrity.build,
)

# What is linked from resources of other builders: the properties to put into the resource at a path, where it is there.
LINKERS: tuple[Callable[[Persona], Iterator[Entry]], ...] = (
    cycles.links,
    logs.links,
    virtual_media.links,
    certificates.links,
    component_integrity.links,
)


def build_tree(persona: Persona) -> Tree:
    """All resources of `persona` that are there from the start."""
    documents: dict[str, Document] = {}
    for path, document in (entry for build in BUILDERS for entry in build(persona)):
        if path in documents:
            raise ValueError(f"two resources at {path}")
        documents[path] = document
    for path, more in (entry for linker in LINKERS for entry in linker(persona)):
        if path in documents:
            _merge(documents[path], more)
    documents |= telemetry.build(persona, documents)
    return Tree(documents.items())


def _merge(document: Document, more: Document) -> None:
    for name, value in more.items():
        if isinstance(value, dict) and isinstance(document.get(name), dict):
            _merge(document[name], value)
        else:
            document[name] = value
