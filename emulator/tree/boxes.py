"""Every chassis of a kind of server: those that its persona lists, and the own ones of GPUs, CPUs and NVSwitches."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from emulator.persona.hardware import ChassisPart
from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.document import Document
from emulator.tree.places import CHASSIS


@dataclass(frozen=True, slots=True)
class Box:
    """One chassis. `inside` and the values of `links` are paths."""

    path: str
    name: str
    type: str
    manufacturer: str
    model: str
    part_number: str
    serial: str
    system: str
    manager: str
    inside: str | None = None
    label: str | None = None
    processors: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    properties: Document = field(default_factory=dict)


def boxes(persona: Persona) -> tuple[Box, ...]:
    """All of them, the one that holds everything first."""
    return (*_listed(persona), *_of_cpus(persona), *_of_gpus(persona), *_of_switches(persona))


def _listed(persona: Persona) -> Iterator[Box]:
    outer = persona.chassis[0]
    for part in persona.chassis:
        gpus = part.baseboard and persona.gpus.chassis is None
        switches = part.baseboard and persona.nvswitches.chassis is None
        yield Box(
            path=f"{CHASSIS}/{part.id}",
            name=part.name or part.id,
            type=part.type,
            manufacturer=part.manufacturer or persona.system.manufacturer,
            model=part.model,
            part_number=part.part_number or persona.system.part_number,
            serial="${serial}" if part == outer else f"${{serial}}-{part.id}",
            system=places.gpu_system(persona) if part.baseboard else places.host(persona),
            manager=places.gpu_manager(persona) if part.baseboard else places.bmc(persona),
            inside=None if part == outer else f"{CHASSIS}/{part.inside or outer.id}",
            label=part.label,
            processors=places.gpus(persona) if gpus and persona.gpus.place == "processors" else (),
            switches=_switches(persona) if switches else (),
            properties=_size(part),
        )


def _size(part: ChassisPart) -> Document:
    return {"HeightMm": round(part.height_u * 44.45, 1)} if part.height_u else {}


def _of_cpus(persona: Persona) -> Iterator[Box]:
    if persona.system.cpu_chassis is None:
        return
    board = f"{CHASSIS}/{places.gpu_board(persona).id}"
    for path, cpu in zip(places.cpu_chassis(persona), persona.system.cpu_ids, strict=True):
        yield Box(
            path=path,
            name=cpu,
            type="Component",
            manufacturer=persona.system.cpu_manufacturer,
            model=persona.system.cpu_model,
            part_number=persona.system.cpu_part,
            serial=f"${{number:{cpu}}}",
            system=places.gpu_system(persona),
            manager=places.gpu_manager(persona),
            inside=board,
            processors=(f"{places.gpu_system(persona)}/Processors/{cpu}",),
        )


def _of_gpus(persona: Persona) -> Iterator[Box]:
    gpus = persona.gpus
    if gpus.chassis is None:
        return
    shown = zip(places.gpu_chassis(persona), gpus.ids, places.gpus(persona), strict=True)
    for number, (path, gpu, processor) in enumerate(shown, gpus.first):
        yield Box(
            path=path,
            name=gpu,
            type="Module",
            manufacturer=gpus.manufacturer,
            model=gpus.model,
            part_number=gpus.part_number,
            serial=f"${{number:{gpu}}}",
            system=places.gpu_system(persona),
            manager=places.gpu_manager(persona),
            inside=f"{CHASSIS}/{places.gpu_board(persona).id}",
            label=gpu_label(persona, number - gpus.first),
            processors=(processor,) if gpus.place == "processors" else (),
            properties={"MaxPowerWatts": gpus.maximum_watts, "MinPowerWatts": gpus.minimum_watts},
        )


def gpu_label(persona: Persona, number: int) -> str:
    """What is printed where the GPU with that number (from zero) sits."""
    gpus = persona.gpus
    return gpus.ids[number] if gpus.label is None else gpus.label.replace("{n}", str(gpus.first + number))


def _of_switches(persona: Persona) -> Iterator[Box]:
    switches = persona.nvswitches
    if switches.chassis is None:
        return
    shown = zip(places.switch_chassis(persona), switches.ids, _switches(persona), strict=True)
    for path, switch, resource in shown:
        yield Box(
            path=path,
            name=switch,
            type="Module",
            manufacturer="NVIDIA",
            model=switches.model,
            part_number=switches.part_number,
            serial=f"${{number:{switch}}}",
            system=places.gpu_system(persona),
            manager=places.gpu_manager(persona),
            inside=f"{CHASSIS}/{places.gpu_board(persona).id}",
            switches=(resource,),
        )


def _switches(persona: Persona) -> tuple[str, ...]:
    switches = persona.nvswitches
    return tuple(f"{places.FABRICS}/{switches.fabric}/Switches/{switch}" for switch in switches.ids)
