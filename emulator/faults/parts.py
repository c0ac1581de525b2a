"""The parts that faults hit by number. A part that a server does not have is refused where one server is named."""

from collections.abc import Callable, Mapping
from typing import Any

from emulator.persona.persona import Persona
from emulator.tree import places


def check_part(persona: Persona, fault: str, arguments: Mapping[str, Any]) -> None:
    """Raise ValueError when servers of this kind have no such part."""
    for name, parts in _PARTS.get(fault, {}).items():
        count = len(parts(persona))
        if not count:
            raise ValueError(f"{fault}: {persona.name} has no such part")
        if int(arguments[name]) >= count:
            raise ValueError(f"{fault}: {name} is {arguments[name]}, and {persona.name} has {count}, numbered from 0")


def _dimms(persona: Persona) -> tuple[str, ...]:
    return places.dimms(persona, persona.system.id)


_PARTS: Mapping[str, Mapping[str, Callable[[Persona], tuple[str, ...]]]] = {
    "slow-gpu": {"index": places.gpus},
    "gpu-missing": {"index": places.gpus},
    "gpu-degraded": {"index": places.gpus},
    "gpu-overheats": {"index": places.gpus},
    "gpu-throttled": {"index": places.gpus},
    "gpus-swapped": {"first": places.gpus, "second": places.gpus},
    "nvlink-down": {"gpu": places.gpus},
    "pcie-degraded": {"index": places.gpu_devices},
    "fan-failed": {"index": places.fans},
    "supply-failed": {"index": places.supplies},
    "dimm-missing": {"index": _dimms},
    "drive-failed": {"index": places.drives},
    "leak-detected": {"index": places.leak_detectors},
}
