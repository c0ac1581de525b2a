"""All sensors of a kind of server: where each is, what it measures and what is too much."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from emulator.persona.persona import Persona
from emulator.tree import places


@dataclass(frozen=True, slots=True)
class Gauge:
    """One sensor. `part` and `number` say what it sits on; `chassis` and `related` are paths.

    Limits: `caution`, `critical` and `fatal` are upper ones, `least` is the lower critical one.
    """

    chassis: str
    id: str
    name: str
    kind: str  # ReadingType
    part: str
    number: int
    context: str  # PhysicalContext
    related: str
    caution: float | None = None
    critical: float | None = None
    fatal: float | None = None
    least: float | None = None

    @property
    def path(self) -> str:
        """Where it answers."""
        return f"{self.chassis}/Sensors/{self.id}"


UNITS: Mapping[str, str] = {
    "Temperature": "Cel",
    "Power": "W",
    "EnergyJoules": "J",
    "Voltage": "V",
    "Rotational": "RPM",
    "Percent": "%",
}

_known: dict[int, tuple[Persona, Mapping[str, Gauge]]] = {}


def gauges(persona: Persona) -> Mapping[str, Gauge]:
    """All sensors by path, in the order in which they are listed."""
    if id(persona) not in _known:
        found = (gauge for make in _MAKERS for gauge in make(persona))
        _known[id(persona)] = (persona, {gauge.path: gauge for gauge in found})
    return _known[id(persona)][1]


def gauges_of(persona: Persona, part: str, kind: str) -> tuple[Gauge, ...]:
    """The sensors of one kind of part, by number."""
    return tuple(gauge for gauge in gauges(persona).values() if (gauge.part, gauge.kind) == (part, kind))


def gauge_of(persona: Persona, part: str, kind: str, number: int) -> Gauge | None:
    """The sensor of one part, None: there is none."""
    return next((gauge for gauge in gauges_of(persona, part, kind) if gauge.number == number), None)


def _box(persona: Persona) -> Iterator[Gauge]:
    names, physics, box = persona.sensors, persona.physics, places.outer(persona)
    make = partial(_gauge, persona, box, number=0, related=box)
    warning, critical = physics.inlet_warning, physics.inlet_critical
    yield make(names.inlet, "Temperature", "inlet", context="Intake", limits=(warning, critical, critical + 5))
    yield make(names.exhaust, "Temperature", "exhaust", context="Exhaust", limits=(70, 75, 80))
    yield make(names.board, "Temperature", "board", context="SystemBoard", limits=(80, 85, 90))
    most = physics.maximum_watts
    yield make(names.total_power, "Power", "box", context="Chassis", limits=(most * 1.05, most * 1.15, None))
    yield make(names.energy, "EnergyJoules", "box", context="Chassis")


def _cpus(persona: Persona) -> Iterator[Gauge]:
    names, critical = persona.sensors, persona.physics.cpu_critical
    for number, (cpu, box) in enumerate(zip(persona.system.cpu_ids, places.cpu_chassis(persona), strict=True)):
        make = partial(_gauge, persona, box, number=number, related=f"{places.host(persona)}/Processors/{cpu}")
        limits = (critical - 5, critical, critical + 5)
        yield make(names.cpu_temperature, "Temperature", "cpu", context="CPU", limits=limits)
        yield make(names.cpu_power, "Power", "cpu", context="CPU")
        yield make(names.memory, "Temperature", "memory", context="Memory", limits=(83, 85, 95))


def _devices(persona: Persona) -> Iterator[Gauge]:
    names, box = persona.sensors, places.outer(persona)
    for number, path in enumerate(places.drives(persona)):
        make = partial(_gauge, persona, box, number=number, related=path)
        yield make(names.drive, "Temperature", "drive", context="StorageDevice", limits=(70, 77, 85))
    for number, (identity, _) in enumerate(places.adapters(persona)):
        related = f"{box}/NetworkAdapters/{identity}"
        make = partial(_gauge, persona, box, number=number, related=related, label=identity)
        yield make(names.adapter, "Temperature", "adapter", context="NetworkingDevice", limits=(95, 105, 115))


def _fans(persona: Persona) -> Iterator[Gauge]:
    fans = persona.fans
    for number, (fan, path) in enumerate(zip(fans.ids, places.fans(persona), strict=True)):
        identity = fans.sensor.replace("{fan}", fan)
        make = partial(_gauge, persona, places.outer(persona), number=number, related=path)
        yield make(identity, "Rotational", "fan", context="Fan", least=float(fans.minimum_rpm // 4))


def _supplies(persona: Persona) -> Iterator[Gauge]:
    names, supplies = persona.sensors, persona.supplies
    for number, path in enumerate(places.supplies(persona)):
        label = str(number + 1)
        make = partial(_gauge, persona, places.outer(persona), number=number, related=path, label=label)
        yield make(names.supply_input, "Power", "supply-input", context="PowerSupply")
        yield make(names.supply_output, "Power", "supply-output", context="PowerSupply")
        yield make(names.supply_voltage, "Voltage", "supply", context="PowerSupply", least=supplies.volts * 0.8)
        yield make(names.supply_temperature, "Temperature", "supply", context="PowerSupply", limits=(75, 80, 90))


def _gpus(persona: Persona) -> Iterator[Gauge]:
    names, critical = persona.sensors, float(persona.gpus.maximum_celsius)
    shown = zip(places.gpu_chassis(persona), places.gpus(persona), persona.gpus.ids, strict=True)
    for number, (box, path, gpu) in enumerate(shown):
        place = gpu if persona.gpus.chassis is None else ""
        make = partial(_gauge, persona, box, number=number, related=path, label=gpu, place=place)
        limits = (critical - 4, critical, critical + 5)
        yield make(names.gpu_temperature, "Temperature", "gpu", context="GPU", limits=limits)
        yield make(names.gpu_memory, "Temperature", "gpu-memory", context="GPU", limits=(92, 95, 105))
        yield make(names.gpu_power, "Power", "gpu", context="GPU")
        yield make(names.gpu_energy, "EnergyJoules", "gpu", context="GPU")
        yield make(names.gpu_voltage, "Voltage", "gpu", context="GPU")


def _switches(persona: Persona) -> Iterator[Gauge]:
    names, switches = persona.sensors, persona.nvswitches
    fabric = f"{places.FABRICS}/{switches.fabric}/Switches"
    for number, (box, switch) in enumerate(zip(places.switch_chassis(persona), switches.ids, strict=True)):
        place = switch if switches.chassis is None else ""
        make = partial(_gauge, persona, box, number=number, related=f"{fabric}/{switch}", label=switch, place=place)
        yield make(names.switch_temperature, "Temperature", "switch", context="ASIC", limits=(95, 105, 110))
        yield make(names.switch_power, "Power", "switch", context="ASIC")


def _gauge(
    persona: Persona,
    box: str,
    pattern: str,
    kind: str,
    part: str,
    *,
    number: int,
    context: str,
    related: str,
    label: str = "",
    place: str = "",
    limits: tuple[float | None, float | None, float | None] = (None, None, None),
    least: float | None = None,
) -> Gauge:
    chassis = place or box.rsplit("/", 1)[-1]
    identity = pattern.replace("{chassis}", chassis).replace("{n}", label or _label(persona, part, number))
    name = identity.replace("_", " ")
    return Gauge(box, identity, name, kind, part, number, context, related, *limits, least)


def _label(persona: Persona, part: str, number: int) -> str:
    """CPUs and groups of memory count from where the ids of the CPUs do."""
    first = 0 if part in ("cpu", "memory") and persona.system.cpu_ids[0].endswith("0") else 1
    return str(number + first)


_MAKERS = (_box, _cpus, _devices, _fans, _supplies, _gpus, _switches)
