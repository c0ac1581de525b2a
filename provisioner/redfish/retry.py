"""The one retry rule: GET and HEAD only, three tries, jitter, what `Retry-After` asks for.

What changes something is never repeated here; operations repeat it after they have read the state back.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from provisioner.capabilities.clock import Clock
from provisioner.errors import BmcUnreachable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RetryRule:
    """How often and how patiently a read is tried. Waits run by the site's clock."""

    clock: Clock
    attempts: int = 3
    first_wait: timedelta = timedelta(seconds=1)
    longest_wait: timedelta = timedelta(seconds=30)

    def read(self, request: Callable[[], T]) -> T:
        """Run `request` in this thread until it does not raise `BmcUnreachable`; the last one is raised."""
        return Retrying(
            retry=retry_if_exception_type(BmcUnreachable),
            stop=stop_after_attempt(self.attempts),
            wait=self._wait,
            reraise=True,
        )(request)

    async def read_async(self, request: Callable[[], Awaitable[T]]) -> T:
        """As `read`, in the event loop; the first try, which nearly always works, costs nothing more."""
        try:
            return await request()
        except BmcUnreachable as error:
            await asyncio.sleep(self._seconds(error, 1))

        async def again() -> T:
            return await request()

        return await AsyncRetrying(
            retry=retry_if_exception_type(BmcUnreachable),
            stop=stop_after_attempt(self.attempts - 1),
            wait=lambda state: self._wait(state, earlier=1),
            reraise=True,
        )(again)

    def _wait(self, state: RetryCallState, earlier: int = 0) -> float:
        error = state.outcome.exception() if state.outcome else None
        return self._seconds(error, state.attempt_number + earlier)

    def _seconds(self, error: BaseException | None, attempt: int) -> float:
        """Real time to wait after this attempt (from 1)."""
        asked = error.retry_after_seconds if isinstance(error, BmcUnreachable) else None
        if asked is not None:
            return self.clock.wall(min(timedelta(seconds=min(asked, 86400.0)), self.longest_wait))
        step = min(self.first_wait * 2 ** (attempt - 1), self.longest_wait)
        return self.clock.wall(step * random.uniform(0.5, 1.5))  # noqa: S311 - jitter, no secret
