"""Maintenance windows: calendar rules with a time zone. Pure: the time is passed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Window:
    """Opens on each of `weekdays` (Monday is 0) at `start` local time, for `duration` of real time."""

    weekdays: frozenset[int]
    start: time
    duration: timedelta
    zone: ZoneInfo

    def rest(self, now: datetime) -> timedelta:
        """How long it is still open; zero where it is closed."""
        today = now.astimezone(self.zone).date()
        longest = timedelta(0)
        for days in range(self.duration // ONE_DAY + 2):
            longest = max(longest, self._rest_of(today - days * ONE_DAY, now))
        return longest

    def _rest_of(self, day: date, now: datetime) -> timedelta:
        if day.weekday() not in self.weekdays:
            return timedelta(0)
        opens = datetime.combine(day, self.start, self.zone).astimezone(UTC)
        rest = opens + self.duration - now
        return rest if opens <= now and rest > timedelta(0) else timedelta(0)


def fits(windows: Sequence[Window], now: datetime, worst_case: timedelta) -> bool:
    """Whether work that takes `worst_case` ends before the window does; always where there are no windows."""
    return not windows or any(window.rest(now) >= worst_case for window in windows)
