"""sushy-tools' emulator behind the services of ours: what it does well, it answers."""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

import orjson
import structlog
from a2wsgi import WSGIMiddleware

from emulator.machine.machine import Machine
from emulator.redfish.errors import RedfishError, not_found
from emulator.redfish.http import Request, Response

_THREADS = 2
_ITS_OWN = re.compile(r"/redfish/v1/Systems/[^/]+/EthernetInterfaces(/|$)")
_log = structlog.get_logger()


def is_of_sushy_tools(path: str) -> bool:
    """Whether sushy-tools answers at `path`."""
    return _ITS_OWN.match(path) is not None


class _MemoryStore(dict[Any, Any]):
    """sushy-tools' dictionary on disk, in memory: our machines keep their own state."""

    def make_permanent(self, _path: str | None, _name: str) -> None:
        """It is not."""


class SushyEmulator:
    """Answers what no service of ours does."""

    def __init__(self, machines: Mapping[str, Machine]) -> None:
        """`machines` by the address of their BMC."""
        self._application = WSGIMiddleware(_load(machines), workers=_THREADS)

    def answers(self, request: Request) -> bool:
        """Whether the path is one that it answers: ports of the host."""
        return is_of_sushy_tools(request.path) and request.path not in request.machine.board.kind.tree

    async def answer(self, request: Request) -> Response:
        """The answer to a request for which there is no route; raises RedfishError for a refusal."""
        status, headers, body = await self._call(request)
        if status >= 500:
            raise not_found(request.path)
        try:
            document = orjson.loads(body) if body else None
        except orjson.JSONDecodeError:
            document = None
        if status >= 400:
            raise _refusal(request, status, document, headers)
        if not isinstance(document, dict):
            return Response(status, headers=_kept(headers))
        return Response(status, document, _kept(headers))

    async def _call(self, request: Request) -> tuple[int, dict[str, str], bytes]:
        scope: Any = {
            "type": "http",
            "http_version": "1.1",
            "method": request.method,
            "path": request.path,
            "query_string": b"",
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in request.headers.items()],
            "server": (request.machine.board.entry.address, 443),
            "client": ("127.0.0.1", 0),
            "scheme": "https",
        }
        messages: list[Any] = []
        body = [{"type": "http.request", "body": request.body, "more_body": False}]

        async def receive() -> Any:
            if body:
                return body.pop()
            await asyncio.Event().wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            messages.append(message)

        await self._application(scope, receive, send)
        headers = {name.decode().lower(): value.decode("latin-1") for name, value in messages[0]["headers"]}
        return messages[0]["status"], headers, b"".join(message.get("body", b"") for message in messages[1:])


def _load(machines: Mapping[str, Machine]) -> Any:
    """sushy-tools' application, made ours; its module builds one as it is imported."""
    from sushy_tools.emulator import memoize

    memoize.PersistentDict = _MemoryStore
    from sushy_tools.emulator.main import app

    from emulator.redfish.sushy_drivers import EveryBmc

    app.__class__ = EveryBmc
    app.machines = machines
    app.logger.disabled = True
    return app


def _refusal(request: Request, status: int, document: Any, headers: dict[str, str]) -> RedfishError:
    if status == 404:
        return not_found(request.path)
    text = document.get("error", {}).get("message") if isinstance(document, dict) else None
    error = RedfishError(
        status, "OperationNotAllowed" if status == 405 else "GeneralError", text or "The request failed."
    )
    error.headers = {"Allow": headers["allow"]} if "allow" in headers else {}
    return error


def _kept(headers: dict[str, str]) -> dict[str, str]:
    return {"Location": headers["location"]} if "location" in headers else {}
