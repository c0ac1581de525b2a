"""The HTTP server's protocol, with Redfish errors for what is no request at all."""

import re

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from emulator.redfish.errors import RedfishError

_METHOD = re.compile(rb"([A-Z]{1,32}) \S+ HTTP/1\.[01]\r\n")


class BmcProtocol(HttpToolsProtocol):
    """One connection to a BMC."""

    _latest = b""

    def data_received(self, data: bytes) -> None:
        """Bytes have come in; the latest are kept for the refusal of a method that the parser does not know."""
        self._latest = data
        super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Refuse what the parser cannot read: 501 when the method is one that nobody has, else 400."""
        method = _METHOD.match(self._latest)
        if method:
            text = f"The HTTP method {method[1].decode()} is not implemented."
            error, line = RedfishError(501, "OperationNotAllowed", text), b"HTTP/1.1 501 Not Implemented"
        else:
            error, line = RedfishError(400, "GeneralError", msg), b"HTTP/1.1 400 Bad Request"
        body = orjson.dumps(error.document())
        head = (
            line,
            b"Content-Type: application/json; charset=utf-8",
            b"OData-Version: 4.0",
            b"Content-Length: %d" % len(body),
            b"Connection: close",
            b"\r\n",
        )
        self.transport.write(b"\r\n".join(head) + body)
        self.transport.close()
