"""A kind of machine: its persona and the resources that it has from the start; shared by all machines of that kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from emulator.persona.load import load_persona
from emulator.persona.persona import Persona
from emulator.recording.actions import aliases_of
from emulator.recording.persona import persona_of
from emulator.recording.recording import read_recording
from emulator.tree.build import build_tree
from emulator.tree.places import UPDATE_SERVICE
from emulator.tree.tree import Tree

RECORDING = "recording:"
_PUSH = f"{UPDATE_SERVICE}/push"


@dataclass(frozen=True, slots=True)
class Kind:
    """Loaded once per process.

    `schemas` are the types of its resources (`Chassis.v1_14_0.Chassis`). `aliases` says for a path at which standard
    path its handler is found: firmware is pushed, and actions are called, where each vendor likes it.
    """

    persona: Persona
    tree: Tree
    schemas: frozenset[str]
    aliases: Mapping[str, str]
    recorded: bool = False


@lru_cache
def load_kind(name: str) -> Kind:
    """The kind of that name: a persona, or `recording:` and a folder. Raises ConfigError."""
    if name.startswith(RECORDING):
        return _recorded(Path(name.removeprefix(RECORDING)))
    persona = load_persona(name)
    tree = build_tree(persona)
    return Kind(persona, tree, tree.schemas, _push_uris(persona))


def _recorded(directory: Path) -> Kind:
    recording = read_recording(directory)
    persona = persona_of(recording, directory.name)
    tree = Tree(recording, folds_case=True)
    return Kind(persona, tree, tree.schemas, _push_uris(persona) | aliases_of(recording), recorded=True)


def _push_uris(persona: Persona) -> dict[str, str]:
    """Those that are not where the update service is."""
    uris = (persona.update.multipart_uri, persona.update.push_uri)
    return {uri: _PUSH for uri in uris if uri and not uri.startswith(f"{UPDATE_SERVICE}/")}
