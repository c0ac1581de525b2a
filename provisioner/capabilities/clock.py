"""Time."""

from datetime import datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Now, and how fast the site's time runs."""

    def now(self) -> datetime:
        """An aware datetime, UTC."""
        ...

    def wall(self, duration: timedelta) -> float:
        """Seconds of real time that `duration` takes: shorter where hardware is emulated at a higher speed."""
        ...

    def work(self, duration: timedelta) -> float:
        """Seconds of real time that work of this length takes; 0 where nothing takes any time."""
        ...

    def limit(self, duration: timedelta) -> float:
        """Seconds of real time after which `duration` is over. As `wall`, but never so few that a busy machine, rather
        than the device, uses them up.
        """
        ...


class Awake(Protocol):
    """Since when this process has been listening without a break: silence before that was ours."""

    def since(self) -> datetime:
        """The start of the process, or the end of its last long stop."""
        ...
