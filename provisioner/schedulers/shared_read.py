"""One reading for all who ask at once: a scheduler's controller answers a hundred drains with one list of jobs."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Read = TypeVar("Read")


class SharedRead(Generic[Read]):
    """What each caller gets was read after it had asked: who asks while it is read waits for the next reading."""

    def __init__(self, read: Callable[[], Awaitable[Read]]) -> None:
        """`read`: reads it once."""
        self._read = read
        self._running: asyncio.Task[Read] | None = None
        self._next: asyncio.Task[Read] | None = None

    async def __call__(self) -> Read:
        """Raises what the reading raises, to everybody who waits for it."""
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._running))
        return await asyncio.shield(self._next)

    async def _after(self, earlier: asyncio.Task[Read] | None) -> Read:
        if earlier is not None:
            await asyncio.wait([earlier])
        self._running, self._next = self._next, None
        return await self._read()
