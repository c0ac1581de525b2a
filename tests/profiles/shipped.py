"""The profiles that come with the product, and the emulated servers that they are for."""

from functools import cache

from emulator.persona.load import load_persona
from emulator.persona.persona import Persona
from profiles.loader import SHIPPED, load_catalog
from profiles.matching import Found, match
from profiles.models import HardwareClass

CATALOG = load_catalog(SHIPPED)
WITH_PROFILES = ("dell-xe9680", "gb200-compute-tray", "hgx-b200", "hgx-h100", "hpe-xl675d", "lenovo-sr670v2")
"""The emulated servers that the product ships profiles for; the emulator has more."""
PERSONAS = [load_persona(name) for name in WITH_PROFILES]
VIRTUAL = "virtual-machine"
"""The class of a real virtual machine; tests/machine boots one."""


def class_of(persona: Persona) -> HardwareClass:
    """The class that a server of this kind is recognised as."""
    system = persona.system
    found = Found(system.manufacturer, system.model, (persona.gpus.model,) * len(persona.gpus.ids), persona.arch)
    answer = match(CATALOG, found)
    assert isinstance(answer, HardwareClass), str(answer)
    return answer


@cache
def persona_of(hardware_class: str) -> Persona:
    """The emulated server of a class."""
    return next(persona for persona in PERSONAS if class_of(persona).name == hardware_class)
