"""A kind of machine: its persona and the resources that it has from the start; shared by all machines of that kind."""

from dataclasses import dataclass
from functools import lru_cache

from emulator.persona.load import load_persona
from emulator.persona.persona import Persona
from emulator.tree.build import build_tree
from emulator.tree.tree import Tree


@dataclass(frozen=True, slots=True)
class Kind:
    """Loaded once per process."""

    persona: Persona
    tree: Tree
    schemas: frozenset[str]
    """The types of its resources: `Chassis.v1_14_0.Chassis`."""


@lru_cache
def load_kind(name: str) -> Kind:
    """The kind of that name; raises ConfigError."""
    persona = load_persona(name)
    tree = build_tree(persona)
    return Kind(persona, tree, tree.schemas)
