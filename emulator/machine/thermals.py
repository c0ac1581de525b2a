"""Heat and power of a machine, as numbers: what a sensor would read. Nothing here knows of Redfish.

A machine is at a level: 0 is off, 1 idle, 2 full load. Power follows a change of level within seconds, temperatures
within minutes, each as a first-order lag in emulated time. A value at a level lies between the three that are known.
"""

import math
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field

from emulator.clock import Clock

OFF, IDLE, FULL = 0.0, 1.0, 2.0
_POWER_SECONDS = 3.0
_HEAT_SECONDS = 75.0
_NOISE_SECONDS = 10
_LOADS = {"powering-on": 0.05, "post": 0.2, "booting": 0.1, "running": 0.08}  # share of full load, by phase
_BEFORE_ANYTHING_RUNS = ("off", "powering-off", "powering-on", "post")


def level_of(phase: str, load: float | None) -> float:
    """Where the level goes to: `load` is what runs on a host asks of it (0..1), None: what its phase does by itself."""
    if phase in ("off", "powering-off"):
        return OFF
    return IDLE + (_LOADS.get(phase, 0.03) if load is None else load)


@dataclass(frozen=True, slots=True)
class Span:
    """A quantity when the machine is off, idle and under full load."""

    off: float
    idle: float
    full: float

    def at(self, level: float) -> float:
        """The value at a level between 0 and 2."""
        if level <= IDLE:
            return self.off + (self.idle - self.off) * level
        return self.idle + (self.full - self.idle) * (level - IDLE)


@dataclass(frozen=True, slots=True)
class Lag:
    """A level on its way from `start` to `target`; `seconds` is its time constant."""

    start: float
    target: float
    seconds: float

    def after(self, elapsed: float) -> float:
        """The level `elapsed` seconds after it left."""
        return self.target + (self.start - self.target) * math.exp(-elapsed / self.seconds)

    def integral(self, elapsed: float) -> tuple[float, float]:
        """Seconds since it left: those below idle weighed by the level, those above by the load."""
        crossing = self._crossing()
        if crossing is None or crossing >= elapsed:
            below, above = self._parts(0.0, elapsed)
            return below, above
        first, second = self._parts(0.0, crossing), self._parts(crossing, elapsed)
        return first[0] + second[0], first[1] + second[1]

    def _crossing(self) -> float | None:
        """When the level passes through idle."""
        if (self.start - IDLE) * (self.target - IDLE) >= 0:
            return None
        return self.seconds * math.log((self.start - self.target) / (IDLE - self.target))

    def _parts(self, begin: float, end: float) -> tuple[float, float]:
        """The integral over a time in which the level stays on one side of idle."""
        length = end - begin
        area = self.target * length + self.seconds * (self.after(begin) - self.after(end))
        middle = self.after((begin + end) / 2)
        if middle < IDLE or (middle == IDLE and self.start < IDLE):  # rounded, when it came long ago
            return area, 0.0
        return length, area - length


@dataclass(slots=True)
class Heat:
    """The level of one machine through time. `now` is the wall clock; at speed 0 every change is there at once."""

    clock: Clock
    now: Callable[[], float] = time.monotonic
    load: float | None = None
    phase: str = "off"
    _since: float = 0.0
    _power: Lag = field(default=Lag(OFF, OFF, _POWER_SECONDS))
    _warmth: Lag = field(default=Lag(OFF, OFF, _HEAT_SECONDS))
    _idle_seconds: float = 0.0
    _load_seconds: float = 0.0

    def enter(self, phase: str) -> None:
        """The host is in another phase; what ran on it before asks for nothing any more."""
        if phase in _BEFORE_ANYTHING_RUNS:
            self.load = None
        self.phase = phase
        self._go()

    def bear(self, load: float | None) -> None:
        """What runs on the host needs this share of it all (0..1); None: as much as a host that waits for work.

        Raises ValueError when nothing can run there.
        """
        if load is not None and self.phase in _BEFORE_ANYTHING_RUNS:
            raise ValueError(f"the host is in phase '{self.phase}': nothing runs there that could load it")
        self.load = load
        self._go()

    @property
    def power(self) -> float:
        """The level of what follows within seconds: power."""
        return self._power.after(self._elapsed())

    @property
    def warmth(self) -> float:
        """The level of what takes minutes: temperatures and fans."""
        return self._warmth.after(self._elapsed())

    @property
    def worked(self) -> tuple[float, float]:
        """Seconds at idle power, and seconds of full load on top of that, since the BMC counts."""
        idle, load = self._power.integral(self._elapsed())
        return self._idle_seconds + idle, self._load_seconds + load

    @property
    def seconds(self) -> float:
        """Emulated time."""
        return self.now() * (self.clock.speed or 1.0)

    def noise(self, name: str) -> float:
        """Between -1 and 1: a bit of it belongs to the part called `name`, a bit changes every few seconds."""
        own = zlib.crc32(name.encode()) / 2**31 - 1
        moment = zlib.crc32(f"{name} {int(self.seconds / _NOISE_SECONDS)}".encode()) / 2**31 - 1
        return 0.7 * own + 0.3 * moment

    def _elapsed(self) -> float:
        return self.seconds - self._since

    def _go(self) -> None:
        self._idle_seconds, self._load_seconds = self.worked
        power, warmth = self.power, self.warmth
        self._since = self.seconds
        target = level_of(self.phase, self.load)
        if not self.clock.speed:
            power = warmth = target
        self._power = Lag(power, target, _POWER_SECONDS)
        self._warmth = Lag(warmth, target, _HEAT_SECONDS)
