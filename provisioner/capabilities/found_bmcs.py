"""The memory of BMCs that were found by looking; nodes come from the expected list alone."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol

from provisioner.models.found_bmc import FoundBmc, Scan, Sighting


class FoundBmcs(Protocol):
    """Every address where a BMC has answered, and the last look around."""

    async def all(self) -> Sequence[FoundBmc]:
        """By address and port; also those that answer no more."""
        ...

    async def last_scan(self) -> Scan | None:
        """The last one that came to its end; None before the first."""
        ...

    async def claim(self, at: datetime, every: timedelta) -> bool:
        """True when nobody has begun to look within `every` before `at`: it is the caller's turn."""
        ...

    async def record(self, scan: Scan, seen: Sequence[Sighting]) -> Sequence[FoundBmc]:
        """Keep what a look around has seen, then that it is over; what is new: an address, or another board there."""
        ...

    async def note(self, seen: Sequence[Sighting], at: datetime) -> Sequence[FoundBmc]:
        """As `record`, beside any look around."""
        ...

    async def forget(self, before: datetime) -> int:
        """Delete what was last seen before; how many."""
        ...
