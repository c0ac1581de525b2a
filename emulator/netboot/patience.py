"""How long something on a booting host keeps asking: pauses that grow, and an end."""

import asyncio

from emulator.clock import Clock

_FIRST_SECONDS = 5.0
_LONGEST_SECONDS = 60.0
_SHORTEST_WALL_SECONDS = 0.2
_LONGEST_WALL_SECONDS = 4.0
_FAILURES = 12
_ANSWERS = 500


class Patience:
    """Used up by failures; a server that asks to come back later uses up next to none."""

    def __init__(self, clock: Clock) -> None:
        """All of it is left."""
        self._clock = clock
        self._failures = 0
        self._pauses = 0
        self._asked = 0

    async def wait(self, retry_after: float | None, weight: int = 1) -> bool:
        """Pause after a failure; False at once when it is over. `weight`: of a refusal that will not change soon."""
        number = self._pauses
        self._asked += 1
        self._pauses += retry_after is None
        self._failures += 0 if retry_after is not None else weight
        if self._failures >= _FAILURES or self._asked >= _ANSWERS:
            return False
        seconds = min(_FIRST_SECONDS * 2**number, _LONGEST_SECONDS) if retry_after is None else retry_after
        floor = min(_SHORTEST_WALL_SECONDS * 2**number, _LONGEST_WALL_SECONDS)  # a fast clock is no load test
        await asyncio.sleep(max(self._clock.wall_seconds(seconds), floor))
        return True
