"""A tiny web server: boot scripts, files by path, and a root that says that it runs."""

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

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
    methods: tuple[str, ...] = ("GET", "HEAD")


class BootServer(LoopbackServer):
    """Answers GET from `files`; keeps what it was asked for (`heads`: by HEAD) and what was posted to it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.types: dict[str, str] = {}
        self.replies: dict[str, Reply] = {}
        self.requests: list[tuple[str, str]] = []
        self.heads: list[tuple[str, str]] = []
        self.hellos: list[bytes] = []
        super().__init__(_handler(self))

    def words(self, root: bytes, image: str = "sha256:" + "1" * 64) -> str:
        """The command line that names `root`."""
        words = f"firstlight.server={self.url} firstlight.node=n firstlight.token=t"
        return f"{words} firstlight.image={image} firstlight.root={digest_of(root)}"

    def offer(self, path: str, root: bytes, image: str = "sha256:" + "1" * 64) -> None:
        """Answer `path` with a script that boots `root`."""
        self.files[path] = self.script(root, image)

    def script(self, root: bytes, image: str = "sha256:" + "1" * 64) -> bytes:
        """A script that boots `root`, which is offered under its digest."""
        self.files[f"/{digest_of(root)}"] = root
        kernel = f"kernel --name root {self.url}/{digest_of(root)} {self.words(root, image)}"
        return f"#!ipxe\n# a comment\n{kernel}\nboot\n".encode()

    def take(self, method: str, path: str) -> Reply | None:
        """What `path` answers now instead of a file."""
        reply = self.replies.get(path)
        if reply is None or method not in reply.methods or reply.times == 0:
            return None
        if reply.times is not None:
            self.replies[path] = Reply(reply.status, reply.headers, reply.times - 1, reply.methods)
        return reply


def _handler(server: BootServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append((self.path, self.headers["User-Agent"]))
            self.wfile.write(self._begin("GET"))

        def do_HEAD(self) -> None:
            server.heads.append((self.path, self.headers["User-Agent"]))
            self._begin("HEAD")

        def do_POST(self) -> None:
            server.hellos.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def _begin(self, method: str) -> bytes:
            path = self.path.partition("?")[0]
            reply = server.take(method, path)
            content = server.files.get(path) if reply is None else b""
            self.send_response(reply.status if reply else 200 if content is not None else 404)
            for name, value in (reply.headers if reply else {}).items():
                self.send_header(name, value)
            if path in server.types:
                self.send_header("Content-Type", server.types[path])
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            return content or b""

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  (named by the library)
            pass

    return Handler
