"""Requests to the API that may be sent again: reads, and POSTs, which carry an Idempotency-Key of their own.

What is never sent again: what reached nobody (there is no service), what took too long, and DELETE.
"""

import http.client
import ssl
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from provisioner.client.problem import STILL_RUNNING
from provisioner.errors import FirstlightError
from provisioner.models.secret import Secret

_TIMEOUT_SECONDS = 60.0
"""A plan reads a BMC, which may take its time."""
_LIMIT_BYTES = 64 * 2**20
_REPEATABLE = frozenset({"GET", "HEAD", "POST"})
_BUSY = frozenset({HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
"""502 and 504 are about a BMC, which is not asked again and again."""


class NobodyAnswersError(FirstlightError):
    """No service is there, or none that talks to us."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    content: bytes
    retry_after: float | None


@dataclass(frozen=True, slots=True)
class Patience:
    """How often, and how long between: twice as long each time, or as the service says, up to `longest` seconds."""

    tries: int = 5
    first: float = 0.2
    longest: float = 10.0
    sleep: Callable[[float], None] = time.sleep

    def pause(self, tried: int, asked: float | None) -> None:
        """Wait after `tried` tries; `asked`: by the service."""
        self.sleep(min(self.longest, asked if asked is not None else self.first * 2 ** (tried - 1)))


@dataclass(frozen=True, slots=True)
class Exchange:
    """The way to one service. `url`: without a slash at its end."""

    url: str
    token: Secret
    patience: Patience = field(default_factory=Patience)

    def send(self, method: str, path: str, content: bytes | None, more: Mapping[str, str] | None = None) -> Answer:
        """The answer, whatever its status. Raises `NobodyAnswersError`."""
        headers = {"Authorization": f"Bearer {self.token.reveal()}", "Accept": "application/json", **(more or {})}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if method == "POST":
            headers.setdefault("Idempotency-Key", str(uuid.uuid4()))
        tried = 0
        while True:
            tried += 1
            last = tried >= self.patience.tries or method not in _REPEATABLE
            answer = self._once(method, path, content, headers, last=last)
            if answer is not None and (last or not _comes_again(answer)):
                return answer
            self.patience.pause(tried, None if answer is None else answer.retry_after)

    def _once(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str], *, last: bool
    ) -> Answer | None:
        """None: the answer was lost, and the same may be sent again."""
        connection = self._connection()
        reached = False
        try:
            connection.connect()
            reached = True
            connection.request(method, urlsplit(self.url).path + path, content, dict(headers))
            response = connection.getresponse()
            return Answer(response.status, response.read(_LIMIT_BYTES), _seconds(response.getheader("Retry-After")))
        except ssl.SSLError as error:
            raise NobodyAnswersError(f"{self.url}: its certificate is not accepted: {error}") from error
        except TimeoutError as error:
            raise NobodyAnswersError(f"{self.url}: no answer for {_TIMEOUT_SECONDS:g} s; see its log") from error
        except (OSError, http.client.HTTPException) as error:
            if reached and not last:
                return None
            raise NobodyAnswersError(f"{self.url}: no service answers ({error})") from error
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        return kind(parts.hostname or "", parts.port, timeout=_TIMEOUT_SECONDS)


def _comes_again(answer: Answer) -> bool:
    """The service asks for another try."""
    still_running = answer.status == HTTPStatus.CONFLICT and STILL_RUNNING.encode() in answer.content
    return still_running or answer.status in _BUSY


def _seconds(retry_after: str | None) -> float | None:
    return float(retry_after) if retry_after is not None and retry_after.isdecimal() else None
