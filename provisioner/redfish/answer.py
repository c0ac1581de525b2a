"""One HTTP answer of a BMC, and what it means."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson

from provisioner.errors import AnswerLost, BmcError, BmcRefused, BmcUnreachable, LoginRefused, ResourceGone
from provisioner.redfish.messages import ids_of, words_of

READS = frozenset({"GET", "HEAD"})
REDIRECTS = frozenset({301, 302, 303, 307, 308})
NOT_NOW = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE})
LONGEST_SEEN = 80


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers (any case) and body; has the few members of a `requests` response that sushy reads."""

    status_code: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def text(self) -> str:
        """The body as text, never failing."""
        return self.content.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON; ValueError when it is none."""
        return orjson.loads(self.content)


def judge(bmc: str, method: str, path: str, answer: Answer) -> None:
    """Raise the `BmcError` that the answer amounts to; return when the BMC said yes.

    A read must carry a JSON object. For a write, any body will do; a 5xx but 501 and 503 may hide that the BMC acted.
    """
    status = answer.status_code
    if status < HTTPStatus.MULTIPLE_CHOICES:
        if method in READS:
            document_of(bmc, path, answer)
        return
    if status == HTTPStatus.SEE_OTHER and method not in READS:
        return  # done as asked; the result is elsewhere (RFC 9110, 15.4.4; DMTF/python-redfish-library#98)
    raise _refusal(bmc, method, path, answer)


def document_of(bmc: str, path: str, answer: Answer) -> dict[str, Any]:
    """The JSON object in the body. Raises `BmcUnreachable` for HTML, half a document, or nothing."""
    try:
        body = answer.json()
    except ValueError as error:
        raise BmcUnreachable(bmc, f"GET {path}: no Redfish but {seen(answer.content)}") from error
    if not isinstance(body, dict):
        raise BmcUnreachable(bmc, f"GET {path}: no Redfish but {seen(answer.content)}")
    return body


def seen(content: bytes) -> str:
    """The first printable characters of a body, for a message."""
    text = "".join(c if c.isprintable() else " " for c in content[: 4 * LONGEST_SEEN].decode("utf-8", "replace"))
    return repr(" ".join(text.split())[:LONGEST_SEEN]) if text.strip() else "an empty body"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from `Retry-After`, when it is a number; a date is not worth trusting a BMC's clock for."""
    try:
        seconds = float(headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _refusal(bmc: str, method: str, path: str, answer: Answer) -> BmcError:
    status = answer.status_code
    words = words_of(answer.content)
    said = f"{method} {path}: {status} {words or seen(answer.content)}"
    if status == HTTPStatus.UNAUTHORIZED:
        return LoginRefused(bmc, said)
    if status < HTTPStatus.BAD_REQUEST or status in NOT_NOW:
        return BmcUnreachable(bmc, said, retry_after(answer.headers))
    if status == HTTPStatus.NOT_IMPLEMENTED and method not in READS:
        return BmcRefused(bmc, said, status, ids_of(answer.content))
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return BmcUnreachable(bmc, said, retry_after(answer.headers)) if method in READS else AnswerLost(bmc, said)
    if not words and method in READS and answer.content.lstrip()[:1] == b"<":
        return BmcUnreachable(bmc, said)  # a web server that is up before its Redfish service
    if status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
        return ResourceGone(bmc, said)
    return BmcRefused(bmc, said, status, ids_of(answer.content))
