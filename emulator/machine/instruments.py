"""What the sensors of a machine read now: its heat and power, seen through what is broken."""

from collections.abc import Callable, Mapping
from typing import Any

from emulator.machine.board import Board
from emulator.machine.power_feeds import feed_of
from emulator.machine.thermals import IDLE, OFF, Heat, Span
from emulator.persona.persona import Persona
from emulator.tree import places
from emulator.tree.gauges import Gauge

_STANDBY_WATTS = 55.0
_EFFICIENCY = 0.94
_DARK_WHEN_OFF = ("cpu", "memory", "gpu", "gpu-memory", "switch", "drive", "fan")


class Instruments:
    """All sensors of one machine."""

    def __init__(self, board: Board, heat: Heat) -> None:
        """Nothing is kept: readings are arithmetic."""
        self._board = board
        self._heat = heat

    def available(self, gauge: Gauge) -> bool:
        """Whether the sensor has a reading: it is there, and what it sits on has power."""
        if self._heat.phase == "off" and gauge.part in _DARK_WHEN_OFF:
            return False
        fault = self._board.faults.peek("sensor-unavailable")
        return not (fault and str(fault["sensor"]) in gauge.id)

    def read(self, gauge: Gauge) -> float | None:
        """The reading in the unit of its kind; None: there is none."""
        if not self.available(gauge):
            return None
        frozen = self._board.faults.peek("sensor-frozen")
        power, warmth, wobble = self._heat.power, self._heat.warmth, self._heat.noise(self._board.uuid + gauge.path)
        if frozen and str(frozen["sensor"]) in gauge.id:
            power, warmth, wobble = IDLE, IDLE, 0.0
        return _READ[gauge.kind](self, gauge, (power, warmth, wobble))

    def gpu_watts(self, number: int, power: float | None = None) -> float:
        """What a GPU draws: never more than its limit."""
        level = self._heat.power if power is None else power
        gpus = self._board.persona.gpus
        drawn = Span(0.0, gpus.idle_watts, gpus.maximum_watts).at(level)
        if self.throttled(number):
            drawn = min(drawn, gpus.maximum_watts * 0.4)
        return min(drawn, self.gpu_limit(number))

    def gpu_limit(self, number: int) -> float:
        """The power limit of a GPU, as it was set."""
        persona, written = self._board.persona, self._board.state.written
        if not any(path.endswith("/EnvironmentMetrics") for path in written):
            return persona.gpus.maximum_watts
        path = f"{places.gpus(persona)[number]}/EnvironmentMetrics"
        return _set_point(written.get(path, {}), persona.gpus.maximum_watts)

    def throttled(self, number: int) -> bool:
        """Whether a GPU is slowed down because it is too hot."""
        return _hits(self._board, "gpu-throttled", number)

    def box_watts(self, power: float | None = None) -> float:
        """What the whole box draws from its supplies."""
        level = self._heat.power if power is None else power
        persona = self._board.persona
        physics = persona.physics
        drawn = Span(_STANDBY_WATTS, physics.idle_watts, physics.maximum_watts).at(level)
        free = Span(0.0, persona.gpus.idle_watts, persona.gpus.maximum_watts).at(level)
        saved = sum(free - self.gpu_watts(number, level) for number in range(len(persona.gpus.ids)))
        return min(drawn - saved, self.box_limit()) if level > OFF else drawn

    def box_limit(self) -> float:
        """The power limit of the box, as it was set."""
        path = f"{places.outer(self._board.persona)}/Controls/PowerLimit"
        written = self._board.state.written.get(path, {})
        return float(written.get("SetPoint") or self._board.persona.physics.highest_limit_watts)

    def supply_watts(self, number: int, power: float | None = None) -> float:
        """What one supply gives: those that work share the load."""
        if supply_fails(self._board, number):
            return 0.0
        count = self._board.persona.supplies.count
        working = [one for one in range(count) if not supply_fails(self._board, one)]
        return self.box_watts(power) / max(1, len(working))

    def fan_share(self, warmth: float | None = None) -> float:
        """How fast the fans turn, of the fastest that they can: all of them hurry when one has failed."""
        level = self._heat.warmth if warmth is None else warmth
        fans = self._board.persona.fans
        if self._heat.phase == "off":
            return 0.0
        if self._board.faults.peek("fan-failed"):
            return 1.0
        slowest = fans.minimum_rpm / max(1, fans.maximum_rpm)
        return Span(slowest, slowest, 0.9).at(level)

    def _celsius(self, gauge: Gauge, now: tuple[float, float, float]) -> float:
        _, warmth, wobble = now
        if gauge.part == "gpu" and (hot := self._heated(gauge)):
            return round(hot + wobble * 0.5, 1)
        return round(_spans(self._board.persona)[gauge.part].at(warmth) + wobble * min(1.5, 0.5 + warmth), 1)

    def _heated(self, gauge: Gauge) -> float:
        """The temperature that a fault gives to a GPU; 0: none does."""
        fault = self._board.faults.peek("gpu-overheats")
        most = self._board.persona.gpus.maximum_celsius
        if fault and int(fault["index"]) == gauge.number:
            return float(fault["celsius"]) or most + 3.0
        return float(most - 1) if self.throttled(gauge.number) else 0.0

    def _watts(self, gauge: Gauge, now: tuple[float, float, float]) -> float:
        power, _, wobble = now
        persona, number = self._board.persona, gauge.number
        exact: Mapping[str, Callable[[], float]] = {
            "box": lambda: self.box_watts(power),
            "cpu": lambda: Span(0.0, persona.system.cpu_watts * 0.28, persona.system.cpu_watts * 0.95).at(power),
            "gpu": lambda: self.gpu_watts(number, power),
            "switch": lambda: Span(0.0, persona.nvswitches.idle_watts, persona.nvswitches.maximum_watts).at(power),
            "supply-output": lambda: self.supply_watts(number, power),
            "supply-input": lambda: self.supply_watts(number, power) / _EFFICIENCY,
        }
        return round(max(0.0, exact[gauge.part]() * (1 + wobble * 0.015)), 1)

    def _joules(self, gauge: Gauge, _now: tuple[float, float, float]) -> float:
        physics, gpus = self._board.persona.physics, self._board.persona.gpus
        idle, full = (physics.idle_watts, physics.maximum_watts)
        if gauge.part == "gpu":
            idle, full = gpus.idle_watts, gpus.maximum_watts
        idle_seconds, load_seconds = self._heat.worked
        return round(idle * idle_seconds + (full - idle) * load_seconds, 1)

    def _volts(self, gauge: Gauge, now: tuple[float, float, float]) -> float:
        power, _, wobble = now
        if gauge.part == "gpu":
            return round(Span(0.0, 0.67, 0.88).at(power) + wobble * 0.005, 3)
        lost = supply_fails(self._board, gauge.number) == "input-lost"
        return 0.0 if lost else round(self._board.persona.supplies.volts + wobble * 2, 1)

    def _turns(self, gauge: Gauge, now: tuple[float, float, float]) -> float:
        _, warmth, wobble = now
        if _hits(self._board, "fan-failed", gauge.number):
            return 0.0
        return float(round(self._board.persona.fans.maximum_rpm * self.fan_share(warmth) * (1 + wobble * 0.02), -1))


_READ: Mapping[str, Callable[[Instruments, Gauge, tuple[float, float, float]], float]] = {
    "Temperature": Instruments._celsius,
    "Power": Instruments._watts,
    "EnergyJoules": Instruments._joules,
    "Voltage": Instruments._volts,
    "Rotational": Instruments._turns,
}


def supply_fails(board: Board, number: int) -> str:
    """How the supply with that number fails: failed or input-lost; empty when it works."""
    if feed_of(number) in board.lost_feeds:
        return "input-lost"
    fault = board.faults.peek("supply-failed")
    return str(fault["how"]) if fault and int(fault["index"]) == number else ""


def _hits(board: Board, name: str, number: int) -> bool:
    fault = board.faults.peek(name)
    return bool(fault) and int((fault or {})["index"]) == number


def _set_point(written: Mapping[str, Any], otherwise: float) -> float:
    return float(written.get("PowerLimitWatts", {}).get("SetPoint") or otherwise)


def _spans(persona: Persona) -> Mapping[str, Span]:
    """Degrees Celsius of each kind of part."""
    physics, cold = persona.physics, persona.physics.inlet_celsius
    wet = physics.cooling == "liquid"
    return {
        "inlet": Span(cold, cold, cold + 1),
        "exhaust": Span(cold + 1, cold + 9, cold + 24),
        "board": Span(cold + 3, cold + 10, cold + 16),
        "cpu": Span(cold + 2, cold + 14, physics.cpu_celsius),
        "memory": Span(cold + 2, cold + 12, cold + 34),
        "drive": Span(cold + 2, cold + 10, cold + 28),
        "adapter": Span(cold + 6, cold + 24, cold + 42),
        "supply": Span(cold + 4, cold + 12, cold + 28),
        "gpu": Span(cold + 1, cold + (5 if wet else 9), physics.gpu_celsius),
        "gpu-memory": Span(cold + 1, cold + (9 if wet else 16), physics.gpu_celsius + 12),
        "switch": Span(cold + 1, cold + 18, cold + 36),
    }
