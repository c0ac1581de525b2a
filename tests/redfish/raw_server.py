"""A BMC that misbehaves below HTTP: what it answers is bytes, silence, or a closed connection."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import Enum

import orjson

from provisioner.models.node import BmcAddress


class Misbehaviour(Enum):
    """Instead of an answer."""

    SILENCE = "accepts the request and says nothing"
    DRIP = "sends one header after the other for ever"
    RESET = "closes the connection without a byte"


Reply = bytes | Misbehaviour
SYSTEM = {
    "@odata.id": "/redfish/v1/Systems/1",
    "Id": "1",
    "SerialNumber": "S1",
    "PowerState": "On",
    "Boot": {
        "BootSourceOverrideMode": "Legacy",
        "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe"],
    },
    "Actions": {
        "#ComputerSystem.Reset": {
            "target": "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset",
            "ResetType@Redfish.AllowableValues": ["On", "ForceOff", "ForceRestart"],
        }
    },
}
DOCUMENTS = {
    "/redfish/v1/": {
        "RedfishVersion": "1.11.0",
        "Systems": {"@odata.id": "/redfish/v1/Systems"},
        "Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}},
    },
    "/redfish/v1/Systems": {"Members": [{"@odata.id": "/redfish/v1/Systems/1"}]},
    "/redfish/v1/Systems/1": SYSTEM,
}


class RawBmc:
    """Answers well until `replies` says otherwise for `METHOD /path`."""

    def __init__(self) -> None:
        """A well-behaved BMC with one system."""
        self.replies: dict[str, Reply | Callable[[], Reply]] = {}
        self.requests: list[str] = []
        self.connections = self.dripped = 0
        self.written: list[asyncio.StreamWriter] = []

    def count(self, what: str) -> int:
        """How often `METHOD /path` arrived."""
        return self.requests.count(what)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        self.written.append(writer)
        try:
            while line := await reader.readline():
                method, path, _ = line.decode().split(" ", 2)
                await self._skip_rest(reader)
                self.requests.append(f"{method} {path}")
                reply = self._reply(method, path)
                if reply is Misbehaviour.SILENCE:
                    await asyncio.sleep(60)
                while reply is Misbehaviour.DRIP:
                    writer.write(b"HTTP/1.1 200 OK\r\n" if not self.dripped else b"X-Drop: 1\r\n")
                    self.dripped += 1
                    await writer.drain()
                    await asyncio.sleep(0.05)
                if reply is Misbehaviour.RESET:
                    return
                assert isinstance(reply, bytes)
                writer.write(reply)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            return
        finally:
            writer.transport.abort()

    def _reply(self, method: str, path: str) -> Reply:
        chosen = self.replies.get(f"{method} {path}")
        if callable(chosen):
            return chosen()
        if chosen is not None:
            return chosen
        if method == "POST" and path.endswith("/Sessions"):
            return answer(201, {}, "X-Auth-Token: t0ken", "Location: /redfish/v1/SessionService/Sessions/7")
        if method == "GET":
            document = DOCUMENTS.get(path)
            return answer(200, document, 'ETag: "1"') if document else answer(404, {})
        return answer(204, None)

    async def _skip_rest(self, reader: asyncio.StreamReader) -> None:
        length = 0
        while (line := (await reader.readline()).strip().lower()) != b"":
            if line.startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        await reader.readexactly(length)


def answer(status: int, body: object, *headers: str) -> bytes:
    """An HTTP answer; bytes are sent as they are, None sends no body."""
    content = body if isinstance(body, bytes) else b"" if body is None else orjson.dumps(body)
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(content)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + content


@asynccontextmanager
async def raw(bmc: RawBmc) -> AsyncIterator[BmcAddress]:
    """Listen on loopback."""
    server = await asyncio.start_server(bmc.handle, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        yield BmcAddress(host, port)
    finally:
        server.close()
        for writer in bmc.written:
            writer.transport.abort()
