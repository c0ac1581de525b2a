"""Changes of nodes and events, told to everybody in this process who waits for one."""

import asyncio
from collections.abc import Callable


class Pulse:
    """`Changes`. Belongs to one event loop."""

    def __init__(self) -> None:
        """Nobody listens yet."""
        self._next = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []

    def call(self, listener: Callable[[], None]) -> None:
        """Call `listener` at every change."""
        self._listeners.append(listener)

    def beat(self) -> None:
        """Something has changed."""
        self._next.set()
        self._next = asyncio.Event()
        for listener in self._listeners:
            listener()

    async def wait(self, timeout: float) -> bool:
        """Wait for the next change (True), at most `timeout` real seconds (False)."""
        try:
            await asyncio.wait_for(self._next.wait(), timeout)
        except TimeoutError:
            return False
        return True
