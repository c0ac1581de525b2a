"""A tiny web server: boot scripts, files by path, and a root that says that it runs."""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.emulator.efi import build_efi
from tests.emulator.loopback import LoopbackServer

_AGENT = """
import json, pathlib, sys, time, urllib.request
words = dict(word.split("=", 1) for word in sys.argv[1:])
body = json.dumps(words).encode()
urllib.request.urlopen(urllib.request.Request(words["firstlight.server"] + "/hello", body), timeout=10)
time.sleep(600)
"""


def build_root(source: str = _AGENT) -> bytes:
    """A zipapp that runs `source`."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("__main__.py", source)
    return buffer.getvalue()


def digest_of(content: bytes) -> str:
    """As boot scripts name files."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@dataclass(frozen=True)
class Reply:
    """What a path answers besides 200 with a file; the first `times` requests only, or all (None)."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int | None = None
    methods: tuple[str, ...] = ("GET", "HEAD", "POST")
    body: bytes = b""


class BootServer(LoopbackServer):
    """Answers GET from `files`, ranges too; keeps what it was asked for (`heads`: by HEAD) and what was posted to it.

    `failures`: what hosts reported to /boot/failures, each with its Authorization.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.types: dict[str, str] = {}
        self.replies: dict[str, Reply] = {}
        self.requests: list[tuple[str, str]] = []
        self.heads: list[tuple[str, str]] = []
        self.hellos: list[bytes] = []
        self.ranges: list[int] = []
        self.failures: list[tuple[str, dict[str, Any]]] = []
        super().__init__(_handler(self))

    def words(self, root: bytes, image: str = "sha256:" + "1" * 64) -> str:
        """The command line that names `root`."""
        words = f"firstlight.server={self.url} firstlight.node=n firstlight.token=t"
        return f"{words} firstlight.image={image} firstlight.root={digest_of(root)}"

    def offer(self, path: str, root: bytes, image: str = "sha256:" + "1" * 64) -> None:
        """Answer `path` with a script that boots `root`."""
        self.files[path] = self.script(root, image)

    def offer_program(self, path: str, root: bytes) -> None:
        """Answer `path` with an iPXE binary whose script boots `root`."""
        self.files[path] = build_efi(trailer=b"iPXE\0" + self.script(root) + b"\0")
        self.types[path] = "application/efi"

    def script(self, root: bytes, image: str = "sha256:" + "1" * 64) -> bytes:
        """A script that boots `root`, which is offered under its digest."""
        self.files[f"/{digest_of(root)}"] = root
        kernel = f"kernel --name root {self.url}/{digest_of(root)} {self.words(root, image)}"
        return f"#!ipxe\n# a comment\n{kernel}\nboot\n".encode()

    def store(self, content: bytes) -> str:
        """Offer a file by its digest, as the service and its mirrors do; returns the path."""
        path = f"/v1/artefacts/{digest_of(content)}"
        self.files[path] = content
        return path

    def answer(self, method: str, path: str, asked: str | None = None) -> Reply:
        """What `path` answers now; `asked`: the range, which has no end."""
        reply = self.replies.get(path)
        if reply and method in reply.methods and reply.times != 0:
            self.replies[path] = reply if reply.times is None else replace(reply, times=reply.times - 1)
            return reply
        if method == "POST" or path not in self.files:
            return Reply(204 if method == "POST" else 404)
        headers = {"Content-Type": self.types[path]} if path in self.types else {}
        content = self.files[path]
        start = int((asked or "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        if not start:
            return Reply(200, headers, body=content)
        self.ranges.append(start)
        place = f"bytes {start}-{len(content) - 1}/{len(content)}"
        return Reply(206, {**headers, "Content-Range": place}, body=content[start:])

    def keep(self, path: str, authorization: str, body: bytes) -> None:
        """Keep what was posted."""
        if path == "/boot/failures":
            self.failures.append((authorization, json.loads(body)))
        else:
            self.hellos.append(body)


def _handler(server: BootServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append((self.path, self.headers["User-Agent"]))
            self._send(server.answer("GET", self.path.partition("?")[0], self.headers["Range"]))

        def do_HEAD(self) -> None:
            server.heads.append((self.path, self.headers["User-Agent"]))
            self._send(server.answer("HEAD", self.path.partition("?")[0]))

        def do_POST(self) -> None:
            server.keep(self.path, self.headers["Authorization"], self.rfile.read(int(self.headers["Content-Length"])))
            self._send(server.answer("POST", self.path))

        def _send(self, reply: Reply) -> None:
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.body)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  (named by the library)
            pass

    return Handler
