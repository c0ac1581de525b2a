"""How fast firmware packages leave this process, all uploads and downloads of them together."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator

_BURST_SECONDS = 0.25
"""What may leave at once after a rest, as time at the limit's rate."""


class UploadLimit:
    """A token bucket; those who wait leave in the order in which they came. Belongs to one event loop.

    Every byte is let through at last, also a piece that is larger than the bucket: what is owed is waited for.
    """

    def __init__(self, bytes_per_second: float | None) -> None:
        """None: no limit."""
        self._rate = bytes_per_second
        self._paid_until = 0.0
        """By the loop's clock: when all that has left would have left at the limit's rate."""

    async def take(self, count: int) -> None:
        """Return when `count` more bytes may leave."""
        if self._rate is None or count <= 0:
            return
        now = asyncio.get_running_loop().time()
        earliest = max(self._paid_until, now - _BURST_SECONDS)
        self._paid_until = earliest + count / self._rate
        wait = self._paid_until - now
        if wait > 0:
            await asyncio.sleep(wait)

    async def paced(self, pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        """The same pieces, none earlier than the limit lets it."""
        async for piece in pieces:
            await self.take(len(piece))
            yield piece


def unlimited() -> UploadLimit:
    """One that lets everything through."""
    return UploadLimit(None)
