"""Simulated time, and what happens when. Nothing happens between two events, so nothing is computed there."""

from collections.abc import Callable
from datetime import timedelta
from heapq import heappop, heappush
from itertools import count

Event = Callable[[], None]


class Agenda:
    """Events in order of time; those of the same second in the order in which they were noted."""

    def __init__(self) -> None:
        """At second 0, with nothing to come."""
        self.now = 0.0
        self._events: list[tuple[float, int, Event]] = []
        self._number = count()

    def after(self, seconds: float, event: Event) -> None:
        """Note what happens so many seconds from now."""
        heappush(self._events, (self.now + seconds, next(self._number), event))

    @property
    def next_at(self) -> float:
        """The second of the next event; infinity where there is none."""
        return self._events[0][0] if self._events else float("inf")

    def happen(self) -> None:
        """Go on to the next event and let it happen."""
        self.now, _, event = heappop(self._events)
        event()

    def __str__(self) -> str:
        """The time since the start, such as `1 day, 2:03:00`."""
        return str(timedelta(seconds=round(self.now)))
