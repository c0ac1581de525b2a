"""How much is asked of a BMC, and of the site, at once."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class LeaseSettings:
    """What a site may want otherwise. All times are real ones: they protect BMCs and processes, not emulated hardware.

    Two requests at once is what real BMCs take (they answer in 0.04 to 0.5 s each, and one at a time inside).
    """

    requests_per_bmc: int = 2
    requests_per_site: int = 1000
    spacing: timedelta = timedelta(0)
    """Between the starts of two requests to one BMC."""
    patience: timedelta = timedelta(minutes=5)
    """How long to wait for a lease that somebody else holds."""
    shared_for: timedelta = timedelta(seconds=30)
    """How long another process must wait when the holder has died."""
    refused_logins: int = 2
    """So many in a row, and nobody tries again before a person says so. Some BMCs lock an account at three."""


class Limits:
    """The slots of one BMC within those of the site."""

    def __init__(self, settings: LeaseSettings, site: asyncio.Semaphore) -> None:
        """`site` is shared by all BMCs."""
        self._slots = asyncio.Semaphore(settings.requests_per_bmc)
        self._site = site
        self._spacing = settings.spacing.total_seconds()
        self._next_start = 0.0

    @asynccontextmanager
    async def request(self) -> AsyncIterator[None]:
        """Hold one slot, starting no sooner than the spacing allows."""
        async with self._slots, self._site:
            if self._spacing:
                now = time.monotonic()
                start = max(now, self._next_start)
                self._next_start = start + self._spacing
                await asyncio.sleep(start - now)
            yield
