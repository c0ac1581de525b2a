"""Requests to a scheduler's HTTP API: one try each, in bounded time; every failure is a `SchedulerError`."""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import aiohttp
import orjson

from provisioner.errors import BadInput, SchedulerError

_LARGEST = 256 * 1024 * 1024
"""Of an answer, in bytes: a list of 10,000 nodes with their images takes some 100 MB."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with a status below 500; `body` is an object of JSON."""

    status: int
    body: Mapping[str, Any]
    retry_after_seconds: float | None = None

    @property
    def ok(self) -> bool:
        """It was done, or read."""
        return self.status < 300


class Web:
    """A place that speaks JSON. `headers` are asked for with each request; nothing of them is ever told."""

    def __init__(
        self,
        name: str,
        url: str,
        *,
        tls: ssl.SSLContext | None,
        headers: Callable[[], Mapping[str, str]],
        timeout: timedelta,
    ) -> None:
        """`name`: the scheduler's, for messages. `timeout`: of a whole request."""
        self.name, self.url = name, url
        self._tls, self._headers = tls, headers
        self._timeout = aiohttp.ClientTimeout(total=timeout.total_seconds())
        self._seconds = timeout.total_seconds()
        self._session: aiohttp.ClientSession | None = None

    async def call(
        self, method: str, path: str, body: Any = None, *, kind: str = "application/json", **query: str
    ) -> Reply:
        """Raises `SchedulerError` where there is no answer, one of 500 or more, or none that can be read."""
        where = f"{method} {path}"
        try:
            async with self._open().request(
                method,
                f"{self.url}{path}",
                params=query,
                data=None if body is None else orjson.dumps(body),
                headers={**self._headers(), "Accept": "application/json", "Content-Type": kind},
                ssl=self._tls if self._tls is not None else True,
                allow_redirects=False,
            ) as response:
                return await self._read(response, where)
        except TimeoutError as error:
            raise self._away(f"{where}: no answer within {self._seconds:g} s") from error
        except aiohttp.ClientError as error:
            raise self._away(f"{where}: {error!r}") from error
        except BadInput as error:
            raise SchedulerError(self.name, str(error), "write the token there, readable for this user") from error

    def refused(self, what: str, reply: Reply, remedy: str) -> SchedulerError:
        """To be raised for an answer that says no."""
        said = reply.body.get("message") or reply.body.get("errors") or "no reason given"
        problem = f"{what}: {self.url} says no ({reply.status}): {str(said)[:400]}"
        return SchedulerError(self.name, problem, remedy, retry_after_seconds=reply.retry_after_seconds)

    async def close(self) -> None:
        """Let go of connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._timeout, trust_env=False)
        return self._session

    async def _read(self, response: aiohttp.ClientResponse, where: str) -> Reply:
        raw = await response.content.read(_LARGEST)
        while len(raw) < _LARGEST and (more := await response.content.read(_LARGEST - len(raw))):
            raw += more
        after = _seconds(response.headers.get("Retry-After"))
        try:
            body = await asyncio.to_thread(orjson.loads, raw) if raw else {}
        except ValueError:
            body = {"message": raw[:200].decode("utf-8", "replace")}
            if response.status < 500:
                raise self._away(f"{where}: {response.status} without JSON: {body['message']!r}") from None
        if not isinstance(body, dict):
            raise self._away(f"{where}: {response.status} with no object of JSON")
        reply = Reply(response.status, body, after)
        if response.status >= 500:
            raise self.refused(where, reply, "nothing is known about its nodes until it answers again")
        return reply

    def _away(self, what: str) -> SchedulerError:
        remedy = f"see that {self.url} can be reached from here; it is asked again"
        return SchedulerError(self.name, what, remedy)


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdigit() else None
