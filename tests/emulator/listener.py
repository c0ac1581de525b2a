"""A subscriber: what BMCs post to it, and an open stream of events."""

import base64
import http.client
import json
import queue
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

from tests.emulator.bmc_client import BmcClient

SUBSCRIPTIONS = "/redfish/v1/EventService/Subscriptions"
STREAM = "/redfish/v1/EventService/SSE"
TEST = "/redfish/v1/EventService/Actions/EventService.SubmitTestEvent"


class EventListener:
    """Takes what is posted to `url`; with `refusals`, so many posts are refused with 503 first."""

    def __init__(self, refusals: int = 0) -> None:
        self.bodies: queue.Queue[bytes] = queue.Queue()
        self.headers: list[dict[str, str]] = []
        self.refused = 0
        self._refusals = refusals
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(outer.take(dict(self.headers), body))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/events"

    def take(self, headers: dict[str, str], body: bytes) -> int:
        """The status for one post."""
        if self.refused < self._refusals:
            self.refused += 1
            return 503
        self.headers.append(headers)
        self.bodies.put(body)
        return 200

    def next(self, seconds: float = 10) -> dict[str, Any]:
        """The next document that is posted."""
        document: dict[str, Any] = json.loads(self.bodies.get(timeout=seconds))
        return document

    def until(self, message: str, seconds: float = 10) -> dict[str, Any]:
        """The next event whose MessageId ends so."""
        while True:
            record: dict[str, Any] = self.next(seconds)["Events"][0]
            if record["MessageId"].endswith(message):
                return record

    def __enter__(self) -> "EventListener":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def subscribe(self, client: BmcClient, **properties: Any) -> str:
        """Subscribe at a BMC; the path of the subscription."""
        body = {"Destination": self.url, "Protocol": "Redfish", "Context": "tests", **properties}
        answer = client.send("POST", SUBSCRIPTIONS, json=body)
        assert answer.status_code == 201, answer.text
        return answer.headers["Location"]


@contextmanager
def stream(client: BmcClient, query: str = "", **headers: str) -> Iterator[Iterator[dict[str, Any]]]:
    """The events of a stream, each with the id of its frame as `frame`; the connection ends with the block."""
    bmc = client.bmc
    connection = http.client.HTTPSConnection(
        bmc.address,
        bmc.port,
        timeout=20,
        context=ssl._create_unverified_context(),
    )
    login = base64.b64encode(f"{bmc.username}:{bmc.password}".encode()).decode()
    connection.request("GET", STREAM + quote(query, safe="?$="), headers={"Authorization": f"Basic {login}", **headers})
    socket_of_it = connection.sock
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert answer.readline().startswith(b":"), "the stream begins with a comment"
    try:
        yield _frames(iter(answer.readline, b""))
    finally:
        with suppress(OSError):
            socket_of_it.shutdown(socket.SHUT_RDWR)
        connection.close()


def _frames(lines: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    frame = ""
    for line in lines:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if name == "id":
            frame = value
        elif name == "data":
            yield {**json.loads(value), "frame": frame}


def submit(client: BmcClient, message_id: str, **properties: Any) -> None:
    """Let a BMC send a test event."""
    body = {"MessageId": message_id, "Message": message_id, "EventType": "Alert", **properties}
    assert client.send("POST", TEST, json=body).status_code == 204
