"""The ASGI application that all BMCs share: it finds the machine by the address that was connected to."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog

from emulator.machine.machine import Machine
from emulator.machine.update_offers import offers
from emulator.redfish import elsewhere
from emulator.redfish.authentication import recognise
from emulator.redfish.cache import Answer, Cache
from emulator.redfish.encoding import encode
from emulator.redfish.errors import RedfishError
from emulator.redfish.etags import add_etag, not_modified
from emulator.redfish.headers import describe
from emulator.redfish.http import Request, Response
from emulator.redfish.misbehaviour import Misbehaviour
from emulator.redfish.queried import apply_query, is_long
from emulator.redfish.query import NOTHING, read_query
from emulator.redfish.resources import Resources
from emulator.redfish.telemetry import attach
from emulator.redfish.upload import receive_package
from emulator.tree.places import SESSION_SERVICE

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_MAX_BODY = 4 * 2**20
_log = structlog.get_logger()


class RedfishService:
    """All BMCs of this process."""

    def __init__(self, machines: Mapping[str, Machine], resources: Resources) -> None:
        """`machines` by the address of their BMC."""
        self._machines = machines
        self._resources = resources
        for machine in machines.values():
            attach(machine)
        self._cache = Cache()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        machine = self._machines[scope["server"][0]]
        method, path = scope["method"], scope["path"].rstrip("/") or "/"
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        request = Request(machine, method, path, scope["query_string"].decode("latin-1"), headers, b"")
        if method == "POST" and offers(machine.board).takes_packages(path):
            request.upload = await receive_package(offers(machine.board).most_bytes, headers, receive)
        elif method not in ("GET", "HEAD"):
            request.body = await _read(receive)
        machine.count_request(f"{request.method} {request.path}")
        known = self._known(request)
        if known:
            await _send_known(known, send)
            return
        misbehaviour = Misbehaviour(request, receive, send)
        if not await misbehaviour.before():
            response = await self._respond(request)
            machine.board.folder.flush()  # what was answered is kept, whatever happens next
            await misbehaviour.send(response)

    def _known(self, request: Request) -> Answer | None:
        headers = request.headers
        usual = "if-none-match" not in headers and headers.get("odata-version", "4.0") == "4.0"
        if request.method != "GET" or not usual or request.machine.board.faults:
            return None
        answer = self._cache.find(request.machine, _key(request))
        if answer is None or answer.open_to_anyone:
            return answer
        recognise(request)  # who is not known is refused, and counted, by the long way alone
        return answer if request.authenticated else None

    async def _respond(self, request: Request) -> Response:
        try:
            reads = request.method in ("GET", "HEAD")
            elsewhere.receive(request)
            response = await self._resources.dispatch(request)
            if response.stream is not None:
                return response
            if reads:
                describe(response, self._resources.allowed(request, response.document))
                query = read_query(request.machine.board.persona, request.query)
                if query is not NOTHING or is_long(request, response):
                    await apply_query(request, response, query, self._resources.dispatch)
                    response.etag = None
                add_etag(request, response)
                response.zipped = _takes_gzip(request)
                self._keep(request, response)
                if not_modified(request, response):
                    response = Response(304, headers={"ETag": response.headers["ETag"]})
            elif not request.path.startswith(SESSION_SERVICE):  # logging in changes nothing that is kept here
                request.machine.board.touch()
        except RedfishError as error:
            response = Response(error.status, error.document(), dict(error.headers))
        except Exception:  # noqa: BLE001  (the outermost handler: a defect of ours must not look like a BMC's)
            _log.exception("request failed", bmc=request.machine.board.entry.name, path=request.path)
            response = Response(501, RedfishError(501, "InternalError", "A defect of the emulator.").document())
        elsewhere.tell(request, response)
        return response

    def _keep(self, request: Request, response: Response) -> None:
        if not response.lasting or request.method != "GET" or request.machine.board.faults:
            return
        if request.query and not request.authenticated:
            return  # what a stranger sees of an open resource is less than what others see
        body, headers = encode(response)
        answer = Answer(body, headers, not request.authenticated)
        self._cache.keep(request.machine, _key(request), answer)


def _key(request: Request) -> str:
    path = f"{request.path}?{request.query}" if request.query else request.path
    return f"{path} gzip" if _takes_gzip(request) else path


def _takes_gzip(request: Request) -> bool:
    return request.machine.board.persona.protocol.gzip and "gzip" in request.headers.get("accept-encoding", "")


async def _send_known(answer: Answer, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": answer.headers})
    await send({"type": "http.response.body", "body": answer.body})


async def _read(receive: Receive) -> bytes:
    message = await receive()
    if not message.get("more_body"):
        return bytes(message.get("body", b""))
    body = bytearray(message.get("body", b""))
    while message.get("more_body") and len(body) < _MAX_BODY:
        message = await receive()
        body += message.get("body", b"")
    return bytes(body)
