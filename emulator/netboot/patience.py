"""How long something on a booting host keeps asking: pauses that grow, and an end."""

import asyncio

from emulator.clock import Clock

_FIRST_SECONDS = 1.0
_LONGEST_SECONDS = 16.0
_SHORTEST_WALL_SECONDS = 0.2
_LONGEST_WALL_SECONDS = 4.0


class Patience:
    """For so many failures; while a server says when to come back, `busy_seconds` in all use up none of it."""

    def __init__(self, clock: Clock, tries: int, busy_seconds: float = 0.0) -> None:
        """All of it is left."""
        self._clock = clock
        self._left = tries
        self._busy_seconds = busy_seconds
        self._pauses = 0

    async def wait(self, retry_after: float | None) -> bool:
        """Pause after a failure; False at once when it is over."""
        grown, floor = 0.0, _SHORTEST_WALL_SECONDS
        if retry_after is not None and self._busy_seconds > 0:
            self._busy_seconds -= max(retry_after, 1.0)
        else:
            self._left -= 1
            grown = min(_FIRST_SECONDS * 2**self._pauses, _LONGEST_SECONDS)
            floor = min(_SHORTEST_WALL_SECONDS * 2**self._pauses, _LONGEST_WALL_SECONDS)  # a fast clock is no load test
            self._pauses += 1
        if self._left <= 0:
            return False
        await asyncio.sleep(max(self._clock.wall_seconds(max(grown, retry_after or 0.0)), floor))
        return True
