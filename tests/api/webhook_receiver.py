"""A receiver of webhooks that fails in ways."""

import base64
import hashlib
import hmac
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DROP = 0
"""In place of a status: the connection is closed without an answer."""


@dataclass(slots=True)
class Receiver:
    """`answers`: the next statuses; 204 when there is none left. `got`: (headers, body) of each request."""

    url: str = ""
    answers: deque[int] = field(default_factory=deque)
    got: list[tuple[dict[str, str], str]] = field(default_factory=list)

    def ids(self) -> list[str]:
        """The messages, in the order in which they came."""
        return [headers["webhook-id"] for headers, _ in self.got]


def is_signed(headers: dict[str, str], body: str, secret: str) -> bool:
    """As a receiver of Standard Webhooks looks at it."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}"
    wanted = base64.b64encode(hmac.new(key, content.encode(), hashlib.sha256).digest()).decode()
    return hmac.compare_digest(headers["webhook-signature"], f"v1,{wanted}")


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on a free port of the loopback."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.do_POST()

        def do_DELETE(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode()
            receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            status = receiver.answers.popleft() if receiver.answers else 204
            if status == DROP:
                self.close_connection = True
                return
            self.send_response(status)
            if status // 100 == 3:
                self.send_header("Location", f"{receiver.url}elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook?key=x"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
