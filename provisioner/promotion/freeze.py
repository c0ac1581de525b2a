"""The freeze calendar: when no pointer moves. Pure: the time is passed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from provisioner.rollout.windows import Window


@dataclass(frozen=True, slots=True)
class Freeze:
    """Once, from `begins` until `ends`; or each week, in `weekly`. `zone`: in which people are told of it."""

    name: str
    zone: ZoneInfo
    begins: datetime | None = None
    ends: datetime | None = None
    weekly: Window | None = None

    def thaws_at(self, now: datetime) -> datetime | None:
        """When it ends that is in force now; None: it is not."""
        if self.weekly is not None:
            rest = self.weekly.rest(now)
            return now + rest if rest > timedelta(0) else None
        if self.begins is None or self.ends is None:
            return None
        return self.ends if self.begins <= now < self.ends else None


def frozen(freezes: Sequence[Freeze], now: datetime) -> tuple[Freeze, datetime] | None:
    """The freeze in force that ends last, and when; None where there is none."""
    found = [(one, thaws) for one in freezes if (thaws := one.thaws_at(now)) is not None]
    return max(found, key=lambda pair: pair[1], default=None)
