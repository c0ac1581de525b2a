"""Emulated time: durations of personas are divided by the speed of the fleet."""

import asyncio
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """`speed` is emulated seconds for each second of the wall clock; 0 means that work takes no time."""

    speed: float

    def wall_seconds(self, seconds: float) -> float:
        """How long work of `seconds` emulated seconds takes on the wall clock."""
        return seconds / self.speed if self.speed else 0.0

    def limit_seconds(self, seconds: float) -> float:
        """How long a limit (lock-out, session time-out) lasts on the wall clock; unscaled at speed 0."""
        return seconds / self.speed if self.speed else seconds

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds` emulated seconds."""
        await asyncio.sleep(self.wall_seconds(seconds))
