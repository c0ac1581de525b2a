"""The ASGI application that all BMCs share: it finds the machine by the address that was connected to."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog

from emulator.machine.machine import Machine
from emulator.redfish.authentication import authenticate
from emulator.redfish.errors import RedfishError
from emulator.redfish.etags import add_etag, check_if_match
from emulator.redfish.expand import expand
from emulator.redfish.http import Request, Response
from emulator.redfish.misbehaviour import Misbehaviour
from emulator.redfish.router import Route, Router, handler

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Fallback = Callable[[Request], Awaitable[Response]]

_MAX_BODY = 256 * 2**20
_log = structlog.get_logger()


class RedfishService:
    """All BMCs of this process; `fallback` answers what no route does."""

    def __init__(self, machines: Mapping[str, Machine], router: Router, fallback: Fallback) -> None:
        """`machines` by the address of their BMC."""
        self._machines = machines
        self._router = router
        self._fallback = fallback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        machine = self._machines[scope["server"][0]]
        request = Request(
            machine,
            scope["method"],
            scope["path"].rstrip("/") or "/",
            scope["query_string"].decode("latin-1"),
            {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]},
            await _read(receive),
        )
        machine.count_request(f"{request.method} {request.path}")
        misbehaviour = Misbehaviour(request, receive, send)
        if not await misbehaviour.before():
            response = await self._respond(request)
            await misbehaviour.send(response)

    async def _respond(self, request: Request) -> Response:
        try:
            response = await self.dispatch(request)
            if request.method in ("GET", "HEAD"):
                await expand(request, response, self.dispatch)
                add_etag(request, response)
        except RedfishError as error:
            response = Response(error.status, error.document(), dict(error.headers))
        except Exception:  # noqa: BLE001  (the outermost handler: a defect of ours must not look like a BMC's)
            _log.exception("request failed", bmc=request.machine.board.entry.name, path=request.path)
            response = Response(501, RedfishError(501, "InternalError", "A defect of the emulator.").document())
        return response

    async def dispatch(self, request: Request) -> Response:
        """The answer to a request; raises RedfishError for a refusal."""
        found = self._router.find(request.path)
        if found is None:
            self._admit(request, anyone=False)
            return await self._fallback(request)
        route, request.parameters = found
        self._admit(request, anyone=request.method in route.anyone)
        return await self._call(route, request)

    def _admit(self, request: Request, *, anyone: bool) -> None:
        if not anyone and not request.authenticated:
            authenticate(request)

    async def _call(self, route: Route, request: Request) -> Response:
        answer = handler(route, request.method)
        if request.method == "PATCH":
            await check_if_match(request, route.get)
        return await answer(request)


async def _read(receive: Receive) -> bytes:
    message = await receive()
    if not message.get("more_body"):
        return bytes(message.get("body", b""))
    body = bytearray(message.get("body", b""))
    while message.get("more_body") and len(body) < _MAX_BODY:
        message = await receive()
        body += message.get("body", b"")
    return bytes(body)
