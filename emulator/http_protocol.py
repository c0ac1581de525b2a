"""The HTTP server's protocol: Redfish errors for what is no request at all, and no patience with slow clients."""

import asyncio
import re
import sys
from collections.abc import Callable

import httptools
import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from emulator.redfish.errors import RedfishError

_METHOD = re.compile(rb"([A-Z]{1,32}) \S+ HTTP/1\.[01]\r\n")
_LATEST_BYTES = 256
_BYTES_PER_SECOND = 500  # whoever sends at least so much is waited for, as Apache's RequestReadTimeout does
_MOST_HEAD_BYTES = 64 * 1024
_REASONS = {400: b"Bad Request", 408: b"Request Timeout", 431: b"Request Header Fields Too Large"}


class BmcProtocol(HttpToolsProtocol):
    """One connection to a BMC."""

    resets_reused: Callable[[], object] = staticmethod(lambda: None)  # whether a second request is met with a reset
    patience_seconds = 30.0  # for a request to come in whole
    stall_seconds = 60.0  # for a client to read the next part of an answer

    _latest = b""
    _coming = True  # a request is awaited or comes in
    _head_bytes: int | None = 0  # of the request line and headers so far; None: they are complete
    _deadline = 0.0
    _timer: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client is there; it has some time to ask for something."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._wait_for(0)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        super().connection_lost(exc)
        for timer in (self._timer, self._stall):
            if timer:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Bytes have come in; how they begin is kept for the refusal of a method that the parser does not know."""
        self._latest = data[:_LATEST_BYTES]
        if self.cycle is not None and self.cycle.response_complete and self.resets_reused():
            self.transport.abort()
            return
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._coming = True  # more than the end of a request
        if not self._coming:
            return
        self._wait_for(len(data))
        if self._head_bytes is not None:
            self._head_bytes += len(data)
            if self._head_bytes > _MOST_HEAD_BYTES:
                self._refuse(431, RedfishError(431, "GeneralError", "The headers are too long."))

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._coming, self._head_bytes = True, 0

    def on_headers_complete(self) -> None:
        """Only the body is missing."""
        super().on_headers_complete()
        self._head_bytes = None

    def on_message_complete(self) -> None:
        """The request is here."""
        super().on_message_complete()
        self._coming = False

    def pause_writing(self) -> None:
        """The client does not read; it cannot have all the time that there is."""
        super().pause_writing()
        self._stall = self.loop.call_later(self.stall_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        super().resume_writing()
        if self._stall:
            self._stall.cancel()

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser cannot read: 501 when the method is one that nobody has, else 400."""
        unknown = isinstance(sys.exception(), httptools.HttpParserInvalidMethodError)
        method = _METHOD.match(self._latest) if unknown else None
        if method:
            text = f"The HTTP method {method[1].decode()} is not implemented."
            self._refuse(501, RedfishError(501, "OperationNotAllowed", text))
        else:
            self._refuse(400, RedfishError(400, "GeneralError", msg))

    def _wait_for(self, received: int) -> None:
        """Move the deadline of the request by what has come in of it."""
        now = self.loop.time()
        if self._timer is None:
            self._deadline = now + self.patience_seconds
            self._timer = self.loop.call_at(self._deadline, self._look_at_the_clock)
        else:
            self._deadline = min(self._deadline + received / _BYTES_PER_SECOND, now + self.patience_seconds)

    def _look_at_the_clock(self) -> None:
        self._timer = None
        if not self._coming:
            return
        if self.loop.time() < self._deadline:
            self._timer = self.loop.call_at(self._deadline, self._look_at_the_clock)
        elif self.headers is not None and (self.cycle is None or not self.cycle.response_started):
            self._refuse(408, RedfishError(408, "GeneralError", "The request did not come in time."))
        else:
            self.transport.close()

    def _refuse(self, status: int, error: RedfishError) -> None:
        body = orjson.dumps(error.document())
        head = (
            b"HTTP/1.1 %d %s" % (status, _REASONS.get(status, b"Not Implemented")),
            b"Content-Type: application/json; charset=utf-8",
            b"OData-Version: 4.0",
            b"Content-Length: %d" % len(body),
            b"Connection: close",
            b"\r\n",
        )
        self.transport.write(b"\r\n".join(head) + body)
        self.transport.close()
