"""Faults of answers: what happens to a request before it is acted upon and to an answer before it is sent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from emulator.faults.fault import Arguments
from emulator.redfish import outage
from emulator.redfish.encoding import encode
from emulator.redfish.errors import RedfishError
from emulator.redfish.http import Request, Response
from emulator.redfish.malformed import deform
from emulator.redfish.power_state import is_empty

_LOGIN_PAGE = b"<!DOCTYPE html><html><head><title>Login</title></head><body><form id='login'></form></body></html>"


class Misbehaviour:
    """The faults that hit one request."""

    def __init__(self, request: Request, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Any]) -> None:
        """`receive` and `send` are those of ASGI."""
        self._request = request
        self._receive = receive
        self._send = send

    async def before(self) -> bool:
        """Do to the request what the faults say; True when nothing is left to answer."""
        if not self._request.machine.board.faults:
            return False
        slow = self._take("slow-answers")
        if slow:
            await asyncio.sleep(float(slow["seconds"]))
        if self._take("silent"):
            await self._hang()
            return True
        response = self._instead()
        if response:
            await self._answer(response)
        return response is not None

    async def send(self, response: Response) -> None:
        """Send the answer, or what is left of it."""
        if not self._request.machine.board.faults:
            await self._answer(response)
            return
        deform(self._request.machine.board, response.document)
        if self._request.method == "POST" and self._take("post-answer-lost"):
            await self._hang()
        elif self._take("half-body"):
            await self._answer(response, half=True)
        else:
            await self._answer(response)

    def _instead(self) -> Response | None:
        unavailable = self._take("service-unavailable")
        if unavailable:
            error = RedfishError(503, "ServiceTemporarilyUnavailable", "The service is temporarily unavailable.")
            return Response(503, error.document(), {"Retry-After": str(unavailable["retry_after"])})
        late = outage.answer(self._request)
        if late:
            return late
        if self._take("html-answers"):
            return Response(200, headers={"Content-Type": "text/html"}, content=_LOGIN_PAGE)
        if self._request.method == "GET" and is_empty(self._request.machine, self._request.path):
            return Response(200)
        return None

    def _take(self, name: str) -> Arguments | None:
        faults = self._request.machine.board.faults
        arguments = faults.peek(name)
        if arguments is None or arguments.get("path", "") not in self._request.path:
            return None
        if arguments.get("method", "") not in ("", self._request.method):
            return None
        return faults.take(name)

    async def _hang(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _stream(self, stream: AsyncIterator[bytes]) -> None:
        """Send what comes until it ends, or until the reader or the BMC has gone away."""
        gone = asyncio.create_task(self._hang())
        sent = asyncio.create_task(self._pump(stream))
        try:
            await asyncio.wait((gone, sent), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (gone, sent):
                task.cancel()
            await asyncio.gather(gone, sent, return_exceptions=True)

    async def _pump(self, stream: AsyncIterator[bytes]) -> None:
        async with contextlib.aclosing(stream) as parts:  # type: ignore[type-var]  # streams are generators
            async for part in parts:
                await self._send({"type": "http.response.body", "body": part, "more_body": True})
        await self._send({"type": "http.response.body", "body": b""})

    async def _answer(self, response: Response, *, half: bool = False) -> None:
        body, headers = encode(response)
        await self._send({"type": "http.response.start", "status": response.status, "headers": headers})
        if response.stream is not None:
            await self._stream(response.stream)
        elif half:
            await self._send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
        else:
            await self._send({"type": "http.response.body", "body": body})
