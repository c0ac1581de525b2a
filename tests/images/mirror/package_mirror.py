"""A package mirror over real HTTP that can misbehave, file by file."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.emulator.loopback import LoopbackServer


@dataclass
class Fault:
    """What goes wrong with a file, for the first `times` requests (None: for ever)."""

    status: int = 0
    cut_after_bytes: int | None = None
    flip: bool = False
    more: bytes = b""
    bytes_per_second: int | None = None
    shift: int = 0
    times: int | None = None


class PackageMirror(LoopbackServer):
    """Serves `root`; `faults` by a part of the path; keeps what it was asked for, with the first byte wanted."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.faults: dict[str, Fault] = {}
        self.ranges = True
        self.authorization: str | None = None
        self.requests: list[tuple[str, int]] = []
        self._lock = threading.Lock()
        mirror = self

        class Handler(_Handler):
            def do_GET(self) -> None:
                mirror.answer(self)

        super().__init__(Handler)

    def asked(self, part: str) -> list[int]:
        """From which byte on the files with `part` in their path were asked for."""
        return [start for path, start in self.requests if part in path]

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = unquote(urlsplit(request.path).path)  # a proxy is sent whole addresses
        found = re.fullmatch(r"bytes=(\d+)-", request.headers.get("Range", ""))
        start = int(found[1]) if found else 0
        with self._lock:
            self.requests.append((path, start))
            fault = self._fault(path)
        if self.authorization and request.headers.get("Authorization") != self.authorization:
            return request.send_error(401)
        if fault.status:
            return request.send_error(fault.status)
        file = self.root / path.lstrip("/")
        if not file.is_file():
            return request.send_error(404)
        content = bytearray(file.read_bytes())
        if fault.flip:
            content[len(content) // 2] ^= 1
        content += fault.more
        return _send(request, bytes(content), start if self.ranges else 0, fault)

    def _fault(self, path: str) -> Fault:
        for part, fault in self.faults.items():
            if part in path and fault.times != 0:
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return Fault()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        pass


def _send(request: BaseHTTPRequestHandler, content: bytes, start: int, fault: Fault) -> None:
    if start and start >= len(content):
        return request.send_error(416)
    request.send_response(206 if start else 200)
    if start:
        request.send_header("Content-Range", f"bytes {start + fault.shift}-{len(content) - 1}/{len(content)}")
    request.send_header("Content-Length", str(len(content) - start))
    request.end_headers()
    body = content[start:]
    if fault.cut_after_bytes is not None:
        body = body[: fault.cut_after_bytes]
        request.close_connection = True
    try:
        for block in _paced(body, fault.bytes_per_second):
            request.wfile.write(block)
    except OSError:
        request.close_connection = True  # who asked has gone


def _paced(body: bytes, bytes_per_second: int | None) -> Iterator[bytes]:
    if bytes_per_second is None:
        yield body
        return
    for at in range(0, len(body), bytes_per_second // 10):
        yield body[at : at + bytes_per_second // 10]
        time.sleep(0.1)


@contextmanager
def nobody() -> Iterator[str]:
    """Give the address of a mirror that has gone."""
    with PackageMirror(Path("/nonexistent")) as mirror:
        url = mirror.url
    yield url
