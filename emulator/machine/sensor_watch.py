"""Sensors that cross a threshold: told once for each crossing, when somebody reads them or has subscribed."""

import asyncio
from collections.abc import Callable

from emulator.background import run_in_background
from emulator.machine.board import Board
from emulator.machine.events import Topic
from emulator.machine.instruments import Instruments
from emulator.machine.pace import Pace
from emulator.tree.gauges import UNITS, Gauge, gauges

_SECONDS = 10.0  # emulated, between two looks while somebody waits for events
_SENSORS = {"Temperature": "Temperature", "Voltage": "Voltage", "Rotational": "Fan"}


class SensorWatch:
    """`waits` says whether somebody wants to hear of what happens; nothing is looked at while nobody does."""

    __slots__ = ("_board", "_instruments", "_pace", "_task", "_told", "_waits")

    def __init__(self, board: Board, instruments: Instruments, waits: Callable[[], bool], pace: Pace) -> None:
        """All sensors are as they should be."""
        self._pace = pace
        self._board = board
        self._instruments = instruments
        self._waits = waits
        self._told: dict[str, str] = {}  # by path of the sensor, the level that was told last; absent: normal
        self._task: asyncio.Task[None] | None = None

    def see(self, gauge: Gauge, reading: float | None) -> None:
        """Somebody looks at a sensor: tell what has changed since."""
        if reading is None or self._board.events.paused:
            return
        level, limit = _level(gauge, reading)
        if level == self._told.get(gauge.path, ""):
            return
        units = UNITS[gauge.kind]
        if level:
            self._told[gauge.path] = level
            self._tell(f"Reading{level}Threshold", gauge, (f"{reading:g}", units, f"{limit:g}"))
        else:
            del self._told[gauge.path]
            self._tell("SensorReadingNormalRange", gauge, (f"{reading:g}", units))

    def wake(self) -> None:
        """Begin to look when somebody waits for events; call it when that may have begun."""
        if self._waits() and (self._task is None or self._task.done()):
            self._task = run_in_background(self._look(), f"sensors of {self._board.entry.name}")

    def stop(self) -> None:
        """Look at nothing more."""
        if self._task:
            self._task.cancel()

    async def _look(self) -> None:
        self._pace.lookers += 1
        try:
            while self._waits():
                for gauge in gauges(self._board.persona).values():
                    self.see(gauge, self._instruments.read(gauge))
                await asyncio.sleep(self._pace.pause(self._board.clock.wall_seconds(_SECONDS)))
        finally:
            self._pace.lookers -= 1

    def _tell(self, key: str, gauge: Gauge, arguments: tuple[str, ...]) -> None:
        sensor = _SENSORS.get(gauge.kind, "Other Units-based Sensor")
        topic: Topic = "gpu" if gauge.part.startswith("gpu") else "host"
        self._board.events.publish(
            f"SensorEvent.{key}", gauge.name, *arguments, origin=gauge.path, topic=topic, sensor=sensor
        )


def _level(gauge: Gauge, reading: float) -> tuple[str, float]:
    """What the reading is beyond, and that limit; an empty text when it is beyond none."""
    upper = (
        ("AboveUpperFatal", gauge.fatal),
        ("AboveUpperCritical", gauge.critical),
        ("AboveUpperCaution", gauge.caution),
    )
    for name, limit in upper:
        if limit is not None and reading >= limit:
            return name, limit
    if gauge.least is not None and reading < gauge.least:
        return "BelowLowerCritical", gauge.least
    return "", 0.0
