"""How much a request may hold, and how many large files are on their way at once."""

import math
import random
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY_BYTES = 2**20
BODY_BYTES_OF = {
    "/v1/agent/heartbeats": 2**12,
    "/v1/agent/register": 2**13,
    "/v1/agent/results": 2**17,
}
"""A result's evidence is 16 KiB, of which JSON may make six times as much."""

SMALL_BYTES = 2**20
"""Files below this are sent whoever else is served: a place would cost more than they do."""

STALL_SECONDS = 60.0
"""A client that takes nothing for so long has lost its place."""

_LONGEST_WAIT = 120.0
_REMEMBERED_SECONDS = 30.0


class AllTaken(Exception):
    """Nobody else is served now. `retry_after`: whole seconds; not the same for all, and more where more wait."""

    def __init__(self, retry_after: int) -> None:
        """Say when to come back."""
        super().__init__(f"all places are taken; come back in {retry_after} s")
        self.retry_after = retry_after


class Downloads:
    """The places for large files of this process. Not for several threads."""

    def __init__(self, places: int) -> None:
        """`places` files at once."""
        self._places = places
        self.taken = 0
        self._refused: deque[float] = deque()
        self._typical = 1.0
        """Seconds that a file takes: half of it is the last one."""

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold one as long as the file is on its way, however that ends. Raises `AllTaken`."""
        now = time.monotonic()
        if self.taken >= self._places:
            raise AllTaken(self._wait(now))
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1
            self._typical = (self._typical + time.monotonic() - now) / 2

    def _wait(self, now: float) -> int:
        """As long as those who were sent away lately will take, half as much more or less by chance."""
        while self._refused and self._refused[0] < now - _REMEMBERED_SECONDS:
            self._refused.popleft()
        self._refused.append(now)
        rounds = 1 + len(self._refused) / self._places
        mean = min(_LONGEST_WAIT, max(2.0, rounds * self._typical))
        return math.ceil(mean * random.uniform(0.5, 1.5))  # noqa: S311 - it spreads clients, and hides nothing


class BodyLimit:
    """Ends the reading of a body that is too long with 413; what is not read is not kept."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = BODY_BYTES_OF.get(scope["path"], BODY_BYTES)
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        read = 0

        async def limited() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > limit or (declared.isdigit() and int(declared) > limit):
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is longer than {limit} bytes")
            return message

        await self._app(scope, limited, send)
