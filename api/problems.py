"""Every error as a problem document (RFC 9457): one table, one shape."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from http import HTTPStatus
from typing import Annotated, Any, Literal
from urllib.parse import quote

import orjson
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.types import Scope

from provisioner.capabilities.request_claims import KeyMissing, KeyReused, StillRunning
from provisioner.errors import (
    BadInput,
    BmcError,
    BmcUnreachable,
    Conflict,
    FirstlightError,
    LeaseLost,
    LoginBudgetSpent,
    LoginRefused,
    NeedsPerson,
    NotFound,
    Refused,
)
from provisioner.services.agents import NotAdmitted

_log = structlog.get_logger(__name__)

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Kind:
    """`word` ends the problem's type."""

    status: int
    word: str
    title: str
    retry_after: int | None = None
    """Whole seconds."""
    header: str | None = None
    """Which header of the request is wrong."""


class FieldError(BaseModel):
    """One thing that is wrong with a request: in the part `in`, at `pointer` (RFC 6901, as the fragment of a URI).

    Query, path and headers count as objects with one member per parameter, which is in `parameter` too.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    detail: str
    part: Annotated[Literal["body", "query", "path", "header"], Field(alias="in")]
    pointer: str
    parameter: str | None = None


class HeaderError(HTTPException):
    """One header of the request is wrong or missing."""

    def __init__(self, status: int, header: str, detail: str) -> None:
        """`detail` says what is wrong with it, and what to do."""
        super().__init__(status, f"{header} {detail}")
        self.errors = [_field_error(("header", header), detail)]


class InstructionDocument(BaseModel):
    """What one person does next."""

    owner: str
    where: str
    what: str
    done_when: str
    part: str | None = None


class Problem(BaseModel):
    """RFC 9457. `instance` is written to the log with the request."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    errors: list[FieldError] | None = None
    instruction: InstructionDocument | None = None


ERRORS: dict[type[Exception], Kind] = {
    NotAdmitted: Kind(401, "unauthorized", "Unauthorized"),
    NotFound: Kind(404, "not-found", "Not found"),
    KeyMissing: Kind(
        400, "idempotency-key-missing", "This is done only with an Idempotency-Key", header="Idempotency-Key"
    ),
    KeyReused: Kind(
        422, "idempotency-key-reused", "The Idempotency-Key is that of another request", header="Idempotency-Key"
    ),
    StillRunning: Kind(409, "request-still-running", "An equal request is not answered yet", retry_after=1),
    Conflict: Kind(409, "conflict", "The world has moved on"),
    NeedsPerson: Kind(409, "needs-person", "A person has to do something first"),
    Refused: Kind(422, "refused", "It cannot be done as it was asked for"),
    BadInput: Kind(500, "misconfigured", "Something is wrong with the configuration here"),
    RequestValidationError: Kind(422, "invalid-request", "The request does not fit the API"),
    LoginRefused: Kind(409, "bmc-login-refused", "The BMC refuses the password"),
    LoginBudgetSpent: Kind(409, "bmc-login-budget-spent", "No more logins are tried"),
    BmcUnreachable: Kind(504, "bmc-unreachable", "The BMC does not answer"),
    BmcError: Kind(502, "bmc-error", "The BMC did not do it"),
    LeaseLost: Kind(503, "lease-lost", "This worker is being replaced"),
    FirstlightError: Kind(500, "internal", "Something went wrong here"),
}
"""The nearest class in an error's ancestry counts. What a person wrote into a file is no asker's business: 500."""

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="firstlight"'}
IN_THE_LOG = "an unexpected error; the log tells more under this instance"
UNEXPECTED = Kind(500, "internal", "Something went wrong here")

_PARTS = ("body", "query", "path", "header")

_ROUTING = {404: "nothing is at this path", 405: "this path does not answer this method"}
"""What the router raises says no more than its status; routes of ours raise neither."""


def install(app: FastAPI) -> None:
    """Answer every error that is raised on purpose; the access log answers the others."""
    for error in (FirstlightError, HTTPException, RequestValidationError):
        app.add_exception_handler(error, _answer)


def instance_of(scope: Scope) -> str:
    """The same for the whole request; also in the log."""
    return str(scope.setdefault("firstlight.instance", f"urn:uuid:{uuid.uuid4()}"))


def respond(
    scope: Scope, kind: Kind, detail: str, *, headers: Mapping[str, str] | None = None, **more: object
) -> Response:
    """The problem as a response. `more` are members beside those of RFC 9457."""
    document = {
        "type": f"urn:firstlight:problem:{kind.word}",
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "instance": instance_of(scope),
        **more,
    }
    more_headers = {**(headers or {})}
    if kind.status == HTTPStatus.UNAUTHORIZED:
        more_headers.update(CHALLENGE)
    if kind.retry_after is not None:
        more_headers["Retry-After"] = str(kind.retry_after)
    return Response(
        orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS),
        kind.status,
        {"Cache-Control": "no-store", **more_headers},
        MEDIA_TYPE,
    )


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For `responses=` of a route: problems that it may answer with."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}


def of_status(status: int) -> Kind:
    """The problem of a plain HTTP error."""
    phrase = HTTPStatus(status).phrase
    return Kind(status, phrase.lower().replace(" ", "-"), phrase.capitalize())


async def _answer(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        detail = _ROUTING.get(error.status_code, error.detail)
        if isinstance(error, HeaderError):
            return respond(request.scope, of_status(error.status_code), detail, errors=error.errors)
        return respond(request.scope, of_status(error.status_code), detail, headers=error.headers)
    kind = next(ERRORS[parent] for parent in type(error).__mro__ if parent in ERRORS)
    if isinstance(error, RequestValidationError):
        return _invalid(request, kind, error.errors())
    if isinstance(error, Refused):
        found = [{"detail": text, "in": "body", "pointer": f"#{pointer}"} for pointer, text in error.findings]
        return respond(request.scope, kind, str(error), errors=found)
    if isinstance(error, NeedsPerson):
        return respond(request.scope, kind, str(error), instruction=asdict(error.instruction))
    if kind.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        _log.error("request_failed", instance=instance_of(request.scope), error=str(error))
        return respond(request.scope, kind, IN_THE_LOG)
    if kind.header:
        return respond(request.scope, kind, str(error), errors=[_field_error(("header", kind.header), str(error))])
    return respond(request.scope, kind, str(error))


def _invalid(request: Request, kind: Kind, errors: Sequence[Mapping[str, Any]]) -> Response:
    """What was sent is not repeated: it may hold a password."""
    found = [_field_error(one["loc"], str(one["msg"])) for one in errors[:20]]
    if any(one["type"] == "json_invalid" for one in errors):
        wrong = [_field_error(("body",), found[0]["detail"])]
        malformed = Kind(400, "malformed-json", "The body is not JSON")
        return respond(request.scope, malformed, found[0]["detail"], errors=wrong)
    first = found[0]
    where = first.get("parameter") or first["pointer"]
    return respond(request.scope, kind, f"{where}: {first['detail']}", errors=found)


def _field_error(where: Sequence[str | int], detail: str) -> dict[str, str]:
    source, *path = where
    part = str(source) if source in _PARTS else "body"
    steps = (str(step)[:100].replace("~", "~0").replace("/", "~1") for step in path)
    pointer = quote("#" + "".join(f"/{step}" for step in steps), safe="#/~")
    named = {"parameter": str(path[0])[:100]} if part != "body" and path else {}
    return {"detail": detail, "in": part, "pointer": pointer, **named}
