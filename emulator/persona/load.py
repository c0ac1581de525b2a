"""The personas that there are; the files are in emulator/personas/, one per kind of server."""

import difflib
from functools import lru_cache
from pathlib import Path

from emulator.errors import ConfigError
from emulator.persona.persona import Persona
from emulator.strict_yaml import load_yaml

PERSONAS = Path(__file__).parent.parent / "personas"


@lru_cache
def load_persona(name: str) -> Persona:
    """The persona of that name; raises ConfigError."""
    known = persona_names()
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        advice = f"did you mean '{near[0]}'?" if near else f"known personas: {', '.join(known)}"
        raise ConfigError(f"unknown persona '{name}'; {advice}")
    return load_yaml(PERSONAS / f"{name}.yaml", Persona)


def persona_names() -> tuple[str, ...]:
    """The personas that there are."""
    return tuple(sorted(path.stem for path in PERSONAS.glob("*.yaml")))
