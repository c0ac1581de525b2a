"""A bounded pool of threads for sushy, which blocks."""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Threads:
    """Runs blocking work; more than `size` at once wait their turn."""

    def __init__(self, size: int) -> None:
        """`size`: how many BMCs can be acted on at the same time."""
        self._executor = ThreadPoolExecutor(max_workers=size, thread_name_prefix="bmc")

    async def run(self, work: Callable[[], T]) -> T:
        """The result of `work`. A cancelled caller waits for its end: the lease must outlive what is on the wire."""
        future = asyncio.get_running_loop().run_in_executor(self._executor, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):
                await asyncio.wait([future])
                future.exception()
            raise

    def close(self) -> None:
        """Let running work end; take no more."""
        self._executor.shutdown(wait=False, cancel_futures=True)
