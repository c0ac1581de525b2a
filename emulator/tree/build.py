"""The tree of a persona: every builder, one place."""

from collections.abc import Callable, Iterator

from emulator.persona.persona import Persona
from emulator.tree import bios, chassis, managers, memory, processors, root, services, storage, systems
from emulator.tree.document import Entry
from emulator.tree.tree import Tree

BUILDERS: tuple[Callable[[Persona], Iterator[Entry]], ...] = (
    root.build,
    services.build,
    systems.build,
    bios.build,
    processors.build,
    memory.build,
    storage.build,
    chassis.build,
    managers.build,
)


def build_tree(persona: Persona) -> Tree:
    """All resources of `persona` that are there from the start."""
    return Tree(entry for build in BUILDERS for entry in build(persona))
