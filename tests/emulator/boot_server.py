"""A tiny web server: boot scripts, files by path, and a root that says that it runs."""

import hashlib
import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

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


class BootServer:
    """Answers GET from `files`; keeps what it was asked for and what was posted to it."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.hellos: list[bytes] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def offer(self, path: str, root: bytes, image: str = "sha256:" + "1" * 64) -> None:
        """Answer `path` with a script that boots `root`."""
        digest = f"sha256:{hashlib.sha256(root).hexdigest()}"
        words = f"firstlight.server={self.url} firstlight.node=n firstlight.token=t"
        kernel = f"kernel --name root {self.url}/{digest} {words} firstlight.image={image} firstlight.root={digest}"
        self.files[f"/{digest}"] = root
        self.files[path] = f"#!ipxe\n# a comment\n{kernel}\nboot\n".encode()

    def __enter__(self) -> "BootServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(server: BootServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.requests.append((self.path, self.headers["User-Agent"]))
            content = server.files.get(self.path.partition("?")[0])
            self.send_response(200 if content is not None else 404)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def do_POST(self) -> None:
            server.hellos.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  (named by the library)
            pass

    return Handler
