"""One HTTP exchange with the service, JSON both ways. It never repeats a request by itself."""

import http.client
import json
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from images.agent.secret import Secret

TIMEOUT_SECONDS = 10.0
_LIMIT_BYTES = 2**20
_TRY_AGAIN = frozenset({408, 425, 429})


class Answer(NamedTuple):
    """What the service said. `document` is None for 204; `detail` is the reason of a refusal."""

    status: int
    document: Any
    detail: str


class UnavailableError(Exception):
    """Nothing that the service itself would say: no connection, a broken answer, 5xx, a page of some proxy."""

    def __init__(self, reason: str, retry_after_seconds: float = 0.0) -> None:
        """Keep the time that the server asks to be left alone."""
        super().__init__(reason)
        self.retry_after_seconds = retry_after_seconds


def exchange(server: str, request: tuple[str, str], body: object, bearer: Secret | None) -> Answer:
    """Send (method, path); return a 2xx or a 4xx of the service; raise UnavailableError for all else."""
    parts = urlsplit(server)
    scheme = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    headers = {"Accept": "application/json", "Connection": "close"}
    if bearer is not None:
        headers["Authorization"] = f"Bearer {bearer.value}"
    content = None
    if body is not None:
        content = json.dumps(body, allow_nan=False).encode()
        headers["Content-Type"] = "application/json"
    try:
        connection = scheme(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request(request[0], parts.path + request[1], content, headers)
            response = connection.getresponse()
            return _judge(response, response.read(_LIMIT_BYTES + 1))
        finally:
            connection.close()
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise UnavailableError(f"{type(error).__name__}: {error}") from error


def _judge(response: http.client.HTTPResponse, content: bytes) -> Answer:
    status = response.status
    if status == http.client.NO_CONTENT:
        return Answer(status, None, "")
    if status in _TRY_AGAIN or not (200 <= status < 300 or 400 <= status < 500):
        raise UnavailableError(f"HTTP {status}", _seconds(response.getheader("Retry-After")))
    if len(content) > _LIMIT_BYTES:
        raise UnavailableError(f"HTTP {status} with more than {_LIMIT_BYTES} bytes")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        # A proxy's page in the service's place; it must count neither as an answer nor as a refusal.
        raise UnavailableError(f"HTTP {status} without JSON") from error
    detail = str(document.get("detail") or document.get("title") or "") if isinstance(document, dict) else ""
    return Answer(status, document, detail[:500])


def _seconds(retry_after: str | None) -> float:
    return float(retry_after) if retry_after and retry_after.isascii() and retry_after.isdigit() else 0.0
