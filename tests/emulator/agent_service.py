"""The service that agents talk to, small: admits by token, has one plan for each node, keeps what it is told."""

import json
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.emulator.loopback import LoopbackServer

TOKEN = "boot-token-0123456789"
SESSION = "session-secret-987654321"


@dataclass
class Told:
    """What agents said; `sessions` counts registrations, `attempts` every request."""

    registrations: list[dict[str, Any]] = field(default_factory=list)
    heartbeats: list[dict[str, Any]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    attempts: int = 0


class AgentService(LoopbackServer):
    """`items` are to be checked; `status` answers every request while it is set; `forget` ends the session."""

    def __init__(self, items: list[dict[str, Any]], heartbeat_seconds: float = 0.2) -> None:
        self.items = items
        self.heartbeat_seconds = heartbeat_seconds
        self.told = Told()
        self.status = 0
        self.sessions = 1
        super().__init__(_handler(self))

    @property
    def session(self) -> str:
        return f"{SESSION}-{self.sessions}"

    def forget(self) -> None:
        self.sessions += 1

    def answer(self, path: str, body: Any, bearer: str) -> tuple[int, Any]:
        self.told.attempts += 1
        if self.status:
            return self.status, {"detail": "away"}
        if path == "/v1/agent/register":
            return self._register(body)
        if bearer != f"Bearer {self.session}":
            return 401, {"detail": "unknown session"}
        if path == "/v1/agent/plan":
            done = {result["item"] for result in self.told.results}
            left = [item for item in self.items if item["id"] not in done]
            return (200, {"run": "run-1", "attempt": 2, "items": left}) if left else (204, None)
        kept = self.told.heartbeats if path == "/v1/agent/heartbeats" else self.told.results
        kept.append(body)
        return 204, None

    def _register(self, body: Any) -> tuple[int, Any]:
        if body["token"] != TOKEN:
            return 404, {"detail": "unknown token"}
        self.told.registrations.append(body)
        return 200, {"session": self.session, "node": "n", "heartbeat_seconds": self.heartbeat_seconds}


def _handler(service: AgentService) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _answer(self, body: Any) -> None:
            status, document = service.answer(self.path, body, self.headers.get("Authorization", ""))
            content = b"" if document is None else json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  (named by the library)
            pass

    return Handler
