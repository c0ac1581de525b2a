"""Idempotency-Key: a POST that was sent twice is done once (IETF draft-ietf-httpapi-idempotency-key-header).

A route takes `once: Once` (or `OnceRequired`, where a key must be sent) behind its holder. All else happens here: an
equal request gets the kept answer before the route is called. One case is left to the route: `once.done` names what
an earlier try has changed that was cut off before it had answered. The route answers then from what is there now.
"""

import asyncio
import hashlib
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

import structlog
from fastapi import Depends, FastAPI, Header, Request, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.auth import Reader, Site
from api.problems import instance_of
from provisioner.capabilities.request_claims import ClaimOrder, KeptAnswer, KeyMissing
from provisioner.capabilities.service import Service
from provisioner.errors import FirstlightError

_log = structlog.get_logger(__name__)

_LEASE = timedelta(seconds=30)
"""So long after a worker died, another may take its requests over."""
_RENEWED_EVERY = 10.0
_MINE = "firstlight.claim"
_KEPT_HEADERS = ("content-type", "location", "etag", "cache-control")

_Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[\x21-\x7e]+$",
        description="a new one for each request, such as a UUID; the same one when it is sent again",
    ),
]


@dataclass(frozen=True, slots=True)
class Try:
    """`done`: what an earlier try of this very request has changed already, else None."""

    done: str | None


class AnsweredBefore(Exception):
    """Raised in place of doing it again."""

    def __init__(self, answer: KeptAnswer) -> None:
        """`answer` is sent."""
        super().__init__(answer)


class _Mine:
    """The claim of the request in hand: it goes on as long as this process lives."""

    def __init__(self, service: Service, request: str) -> None:
        self._service = service
        self._request = request
        self._renewing = asyncio.create_task(self._renew())

    async def end(self, answer: KeptAnswer | None) -> None:
        """Keep a good answer; after anything else the next try begins anew."""
        self._renewing.cancel()
        with suppress(asyncio.CancelledError):
            await self._renewing
        if answer is not None:
            await self._service.claims.keep(self._request, answer)
        else:
            await self._service.claims.release(self._request)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(_RENEWED_EVERY)
            try:
                await self._service.claims.renew(self._request, self._service.world.clock.now() + _LEASE)
            except FirstlightError as error:
                _log.warning("claim_not_renewed", instance=self._request, error=str(error))


async def _once(request: Request, service: Site, holder: Reader, key: _Key = None) -> Try:
    if key is None:
        return Try(done=None)
    order = ClaimOrder(instance_of(request.scope), holder.name, key.strip('"'), await _fingerprint(request))
    claim = await service.claims.claim(order, service.world.clock.now() + _LEASE)
    if isinstance(claim, KeptAnswer):
        raise AnsweredBefore(claim)
    request.scope[_MINE] = _Mine(service, order.request)
    return Try(claim.done)


async def _required(request: Request, service: Site, holder: Reader, key: _Key = None) -> Try:
    if key is None:
        raise KeyMissing("Idempotency-Key is missing: send a new one, such as a UUID, with each new request")
    return await _once(request, service, holder, key)


Once = Annotated[Try, Depends(_once)]
OnceRequired = Annotated[Try, Depends(_required)]


class KeepAnswers:
    """Middleware: an answer to a claimed request is kept before it is sent."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        held: list[Message] = []

        async def hold(message: Message) -> None:
            if _MINE in scope:
                held.append(message)
            else:
                await send(message)

        try:
            await self._app(scope, receive, hold)
        finally:
            mine: _Mine | None = scope.get(_MINE)
            if mine is not None:
                await mine.end(_good(held))
        for message in held:
            await send(message)


def install(app: FastAPI) -> None:
    """Answer with what was answered before."""
    app.add_exception_handler(AnsweredBefore, _again)


async def _again(_: Request, error: Exception) -> Response:
    answer: KeptAnswer = error.args[0]
    return Response(answer.body, answer.status, {**answer.headers, "Idempotent-Replayed": "true"})


async def _fingerprint(request: Request) -> bytes:
    """Equal for equal requests: method, path, query and body. Whose it is, is kept beside it."""
    line = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    return hashlib.sha256(line + await request.body()).digest()


def _good(messages: list[Message]) -> KeptAnswer | None:
    if not messages or messages[0]["status"] >= 400:
        return None
    headers = {name.decode(): value.decode("latin-1") for name, value in messages[0]["headers"]}
    kept = {name: value for name, value in headers.items() if name.lower() in _KEPT_HEADERS}
    return KeptAnswer(messages[0]["status"], kept, b"".join(message.get("body", b"") for message in messages[1:]))
