"""The clock of the site."""

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_SHORTEST_SECONDS = 0.25
"""Real time: hardware without durations is still asked only four times a second."""

_SHORTEST_LIMIT_SECONDS = 30.0
"""Real time: with hardware that takes no time, what a busy machine of ours may need to see it."""

_STOPPED_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class PacedClock:
    """`Clock`. `speed`: emulated seconds per real second; 1 for hardware, 0 where nothing takes any time."""

    speed: float = 1.0

    def now(self) -> datetime:
        """The time of day is real at any speed."""
        return datetime.now(UTC)

    def wall(self, duration: timedelta) -> float:
        """Real seconds; at least a quarter of one, so that nothing spins."""
        return max(self.work(duration), _SHORTEST_SECONDS)

    def work(self, duration: timedelta) -> float:
        """Real seconds, without a floor."""
        return duration.total_seconds() / self.speed if self.speed else 0.0

    def limit(self, duration: timedelta) -> float:
        """Real seconds; at least half a minute."""
        return max(self.wall(duration), _SHORTEST_LIMIT_SECONDS)

    @property
    def pace(self) -> float:
        """Real seconds per second of a time limit; limits stay generous where nothing takes any time."""
        return 1.0 / self.speed if self.speed else 1.0


class Wakefulness:
    """`Awake`. A process that was stopped, or a machine that slept, hears nothing meanwhile and cannot tell."""

    def __init__(self) -> None:
        """Awake from now on, as long as `watch` runs."""
        self._since = datetime.now(UTC)
        self._last = time.monotonic()

    def since(self) -> datetime:
        """As the protocol says."""
        now = time.monotonic()
        if now - self._last > _STOPPED_SECONDS:
            self._since = datetime.now(UTC)
        self._last = now
        return self._since

    async def watch(self) -> None:
        """Until cancelled: looks at the clock every second."""
        while True:
            self.since()
            await asyncio.sleep(1.0)
