"""The protocol between a node's agent and the service, as a client that waits for as long as the service is away.

POST /v1/agent/register gives a session for the boot token; GET /v1/agent/plan, POST /v1/agent/heartbeats and
POST /v1/agent/results use it. 401: register again. 409: this boot is refused for good.
"""

import asyncio
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson

VERSION = "stand-in-1"
_FIRST_SECONDS = 0.2
_LONGEST_SECONDS = 15.0
_LIMIT_BYTES = 2**20
_TRY_AGAIN = frozenset({408, 425, 429})
_TIMEOUT = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=10)


class Unavailable(Exception):
    """Nothing that the service itself would say; `retry_after` is how long it asks to be left alone."""

    def __init__(self, reason: str, retry_after: float = 0.0) -> None:
        """`reason` holds no secret."""
        super().__init__(reason)
        self.retry_after = retry_after


class Refused(Exception):
    """409: the token belongs to another boot, or the node to another run."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A 2xx or a 4xx of the service; `document` is None for 204."""

    status: int
    document: Any


@dataclass(frozen=True, slots=True)
class Registration:
    """What the service answered; the session is a secret."""

    session: str = field(repr=False)
    heartbeat_seconds: float


@dataclass(frozen=True, slots=True)
class Boot:
    """What the command line said; the token is a secret."""

    server: str
    token: str = field(repr=False)
    image: str
    boot_id: str
    root: str


@dataclass(frozen=True, slots=True)
class Wire:
    """What all agents share: the client, and how many requests are under way at once."""

    client: aiohttp.ClientSession
    at_once: asyncio.Semaphore


class Service:
    """The service as one boot sees it."""

    __slots__ = ("_boot", "_lock", "_registration", "_wire")

    def __init__(self, wire: Wire, boot: Boot) -> None:
        """Nothing is sent before the first call."""
        self._wire = wire
        self._boot = boot
        self._lock = asyncio.Lock()
        self._registration: Registration | None = None

    async def registration(self) -> Registration:
        """The registration, made now if there is none. Raises Refused."""
        async with self._lock:
            if self._registration is None:
                self._registration = await self._register()
            return self._registration

    async def call(self, method: str, path: str, body: object = None) -> Answer:
        """Send until the service itself answers, for days if need be. Raises Refused."""
        pauses = _pauses()
        while True:
            try:
                return await self.call_once(method, path, body)
            except Unavailable as error:
                await _pause(pauses, error)

    async def call_once(self, method: str, path: str, body: object = None) -> Answer:
        """Send once, or twice when the session had to be renewed. Raises Unavailable or Refused."""
        registration = await self.registration()
        answer = await self._exchange(method, path, body, registration.session)
        if answer.status != 401:
            return answer
        if self._registration is registration:  # another task may have registered meanwhile
            self._registration = None
        answer = await self._exchange(method, path, body, (await self.registration()).session)
        if answer.status == 401:
            raise Unavailable("401 right after a registration")
        return answer

    async def _register(self) -> Registration:
        boot = self._boot
        body = {
            "token": boot.token,
            "boot_id": boot.boot_id,
            "image": boot.image,
            "root": boot.root,
            "version": VERSION,
        }
        pauses = _pauses()
        while True:
            try:
                return _read_registration(await self._exchange("POST", "/v1/agent/register", body, None))
            except Unavailable as error:
                await _pause(pauses, error)

    async def _exchange(self, method: str, path: str, body: object, session: str | None) -> Answer:
        headers = {"Accept": "application/json"}
        if session is not None:
            headers["Authorization"] = f"Bearer {session}"
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            async with (
                self._wire.at_once,
                self._wire.client.request(
                    method,
                    self._boot.server + path,
                    data=None if body is None else orjson.dumps(body),
                    headers=headers,
                    timeout=_TIMEOUT,
                    allow_redirects=False,
                ) as answer,
            ):
                return _judge(answer, await answer.content.read(_LIMIT_BYTES + 1) if answer.status != 204 else b"")
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise Unavailable(type(error).__name__) from error


def _judge(answer: aiohttp.ClientResponse, content: bytes) -> Answer:
    status = answer.status
    if status == 204:
        return Answer(status, None)
    if status in _TRY_AGAIN or not (200 <= status < 300 or 400 <= status < 500):
        after = answer.headers.get("Retry-After", "")
        raise Unavailable(f"HTTP {status}", float(after) if after.isascii() and after.isdigit() else 0.0)
    if len(content) > _LIMIT_BYTES:
        raise Unavailable(f"HTTP {status} with too many bytes")
    try:
        return Answer(status, orjson.loads(content))
    except ValueError as error:
        raise Unavailable(f"HTTP {status} without JSON") from error


def _read_registration(answer: Answer) -> Registration:
    if answer.status == 409:
        raise Refused("the registration was refused")
    if answer.status != 200:
        raise Unavailable(f"HTTP {answer.status}")
    try:
        session, seconds = answer.document["session"], float(answer.document["heartbeat_seconds"])
    except (TypeError, KeyError, ValueError) as error:
        raise Unavailable("the registration lacks session or heartbeat_seconds") from error
    if not isinstance(session, str) or not (session.isascii() and session.isprintable() and session and seconds > 0):
        raise Unavailable("the registration has an unusable session or heartbeat_seconds")
    return Registration(session, min(max(seconds, 0.05), 300.0))


def jittered(seconds: float, share: float = 0.2) -> float:
    """More or less by up to `share`, so that a fleet does not act in step."""
    return seconds * random.uniform(1 - share, 1 + share)  # noqa: S311  (jitter is no secret)


def _pauses() -> Iterator[float]:
    seconds = _FIRST_SECONDS
    while True:
        yield jittered(seconds * 0.75, 1 / 3)
        seconds = min(2 * seconds, _LONGEST_SECONDS)


async def _pause(pauses: Iterator[float], error: Unavailable) -> None:
    await asyncio.sleep(max(next(pauses), min(error.retry_after, _LONGEST_SECONDS)))
