"""What waits to be sent to one subscriber. A task runs while something waits, and none while nothing does."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import aiohttp
import structlog

from emulator.background import run_in_background
from emulator.clock import Clock

_MOST = 256  # what waits beyond that is lost, the oldest first
_ANSWER_SECONDS = 10.0
_SHORTEST_SECONDS, _LONGEST_SECONDS = 0.05, 4.0  # the pause that attempts grow to, however fast the clock runs
_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Address:
    """Where to send to, and how often to try: `attempts` more after the first, `pause` emulated seconds apart."""

    url: str
    headers: tuple[tuple[str, str], ...]
    verifies: bool
    attempts: int
    pause: float
    policy: str


class Outbox:
    """Sends in order, one at a time. `given_up` is called when the policy says that nothing more is sent."""

    def __init__(self, client: aiohttp.ClientSession, clock: Clock, given_up: Callable[[], None]) -> None:
        """Nothing waits."""
        self._client = client
        self._clock = clock
        self._given_up = given_up
        self._waiting: deque[tuple[Address, bytes]] = deque(maxlen=_MOST)
        self._task: asyncio.Task[None] | None = None

    def put(self, address: Address, body: bytes) -> None:
        """Send `body` after what waits already."""
        self._waiting.append((address, body))
        if self._task is None or self._task.done():
            self._task = run_in_background(self._send_all(), "events of a subscription")

    def close(self) -> None:
        """Send nothing more."""
        self._waiting.clear()
        if self._task:
            self._task.cancel()

    async def _send_all(self) -> None:
        while self._waiting:
            address, body = self._waiting[0]
            if not await self._deliver(address, body):
                self._waiting.clear()
                self._given_up()
                return
            if self._waiting and self._waiting[0][1] is body:
                self._waiting.popleft()

    async def _deliver(self, address: Address, body: bytes) -> bool:
        """Send until it is taken; False when the subscriber is given up."""
        attempt = 0
        while not await self._send(address, body):
            if address.policy in ("TerminateAfterRetries", "SuspendRetries") and attempt >= address.attempts:
                return False
            growth = 2 ** min(attempt, 6)
            attempt += 1
            wanted = address.pause * (growth if address.policy == "RetryForeverWithBackoff" else 1)
            shortest = min(_SHORTEST_SECONDS * growth, _LONGEST_SECONDS)
            await asyncio.sleep(max(shortest, self._clock.wall_seconds(wanted)))
        return True

    async def _send(self, address: Address, body: bytes) -> bool:
        headers = {"Content-Type": "application/json", **dict(address.headers)}
        try:
            async with self._client.post(
                address.url,
                data=body,
                headers=headers,
                ssl=address.verifies,
                timeout=aiohttp.ClientTimeout(total=_ANSWER_SECONDS),
            ) as answer:
                return answer.status < 400
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            _log.debug("event not delivered", reason=str(error))
            return False
