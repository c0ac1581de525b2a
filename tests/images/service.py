"""A small service for one agent, over real HTTP, that can misbehave."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Trouble = Callable[[BaseHTTPRequestHandler], bool]
"""Answers a request wrongly and returns True, or returns False to let it be answered."""

TOKEN = "one-time-token-of-this-boot"


class Service:
    """The state of the service; it survives when the server goes away and returns on the same port."""

    def __init__(self, items: list[dict[str, Any]], heartbeat_seconds: float = 0.1) -> None:
        self.items = items
        self.heartbeat_seconds = heartbeat_seconds
        self.registrations: list[dict[str, Any]] = []
        self.heartbeats: list[dict[str, Any]] = []
        self.results: list[dict[str, Any]] = []
        self.result_posts = 0
        self.plans = 0
        self.sessions: set[str] = set()
        self.boot_id: str | None = None
        self.trouble: Trouble | None = None
        self.port = 0
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def done(self) -> set[str]:
        return {result["item"] for result in self.results}

    @contextmanager
    def running(self) -> Iterator[None]:
        service = self

        class Handler(_Handler):
            def answer(self, body: Any) -> tuple[int, Any]:
                with service.lock:
                    return service.answer(self, body)

            def trouble(self) -> bool:
                return service.trouble is not None and service.trouble(self)

        ThreadingHTTPServer.allow_reuse_address = True
        server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            server.server_close()
            thread.join()

    def answer(self, request: BaseHTTPRequestHandler, body: Any) -> tuple[int, Any]:
        if request.path == "/v1/agent/register":
            return self._register(body)
        if request.headers["Authorization"] not in {f"Bearer {session}" for session in self.sessions}:
            return 401, {"title": "session unknown"}
        if request.path == "/v1/agent/plan":
            self.plans += 1
            left = [item for item in self.items if item["id"] not in self.done()]
            return (200, {"run": "run-1", "attempt": 1, "items": left}) if left else (204, None)
        if request.path == "/v1/agent/heartbeats":
            self.heartbeats.append(body)
        if request.path == "/v1/agent/results":
            self.result_posts += 1
            if body["item"] not in self.done():
                self.results.append(body)
        return 204, None

    def _register(self, body: Any) -> tuple[int, Any]:
        if body["token"] != TOKEN:
            return 401, {"title": "bad token"}
        if self.boot_id not in {None, body["boot_id"]}:
            return 409, {"title": "used", "detail": f"token {body['token']} is used by boot {self.boot_id}"}
        self.boot_id = body["boot_id"]
        self.registrations.append(body)
        session = f"session-secret-{len(self.registrations)}"
        self.sessions.add(session)
        return 200, {"session": session, "node": "r01-u01", "heartbeat_seconds": self.heartbeat_seconds}


class _Handler(BaseHTTPRequestHandler):
    def answer(self, body: Any) -> tuple[int, Any]:
        raise NotImplementedError

    def trouble(self) -> bool:
        raise NotImplementedError

    def do_GET(self) -> None:
        self._respond(None)

    def do_POST(self) -> None:
        self._respond(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _respond(self, body: Any) -> None:
        if self.trouble():
            return
        status, document = self.answer(body)
        if getattr(self, "lose_answer", False):
            self.close_connection = True
            return
        content = b"" if document is None else json.dumps(document).encode()
        send(self, status, content, "application/json" if status < 400 else "application/problem+json")

    def log_message(self, *_arguments: object) -> None:
        """Stay quiet."""


def send(request: BaseHTTPRequestHandler, status: int, content: bytes, kind: str) -> None:
    """Send one whole answer."""
    request.send_response(status)
    request.send_header("Content-Type", kind)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)
