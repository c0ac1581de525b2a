"""nginx as a rack's mirror, with the configuration that we write."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from provisioner.network_boot.nginx import Front, render_cache
from tests.api.site import Site
from tests.network_boot.web_server import CONTENT, DIGEST, FILE, free_port, nginx


class Counting:
    """A service that counts what it sends, and is in no hurry."""

    def __init__(self, url: str) -> None:
        """Before the one at `url`."""
        self.sent_bytes, self.requests = 0, 0
        counting = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                wanted = {"Range": self.headers["Range"]} if "Range" in self.headers else {}
                answer = requests.get(url + self.path, headers=wanted, timeout=30)
                counting.requests += 1
                counting.sent_bytes += len(answer.content)
                time.sleep(0.3)
                self.send_response(answer.status_code)
                for name in ("Content-Type", "Content-Length", "Content-Range", "ETag", "Cache-Control"):
                    if name in answer.headers:
                        self.send_header(name, answer.headers[name])
                self.end_headers()
                self.wfile.write(answer.content)

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def mirror(tmp_path: Path, service: Site) -> Iterator[tuple[str, Counting, Path]]:
    """A rack's mirror of the service."""
    port, counting = free_port(), Counting(service.url)
    front = Front("trial", counting.url, "127.0.0.1", 8410, tmp_path, bodies=64)
    server = render_cache(front, listen=f"127.0.0.1:{port}", cache=tmp_path / "cache", cache_gib=1)
    with nginx(tmp_path / "nginx", server, port):
        yield f"http://127.0.0.1:{port}", counting, tmp_path
    counting.server.shutdown()
    counting.server.server_close()


def test_a_rack_that_asks_at_once_fetches_once(mirror: tuple[str, Counting, Path]) -> None:
    url, counting, _ = mirror
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: requests.get(url + FILE, timeout=60), range(20)))
    assert all(one.status_code == 200 and one.content == CONTENT for one in answers)
    assert (counting.requests, counting.sent_bytes) == (3, len(CONTENT))
    assert {one.headers["ETag"] for one in answers} == {f'"{DIGEST}"'}


def test_a_mirror_resumes_and_fetches_no_more_than_is_asked(mirror: tuple[str, Counting, Path]) -> None:
    url, counting, _ = mirror
    headers = {"Range": f"bytes={len(CONTENT) - 5}-"}
    for more in ({}, {"If-Range": f'"{DIGEST}"'}):
        answer = requests.get(url + FILE, headers=headers | more, timeout=30)
        assert (answer.status_code, answer.content) == (206, CONTENT[-5:])
        assert counting.sent_bytes < 6 * 2**20, "the last piece; for If-Range the first one too"
    assert requests.get(url + FILE, timeout=30).content == CONTENT
    assert counting.requests == 3


def test_a_mirror_holds_files_and_nothing_else(mirror: tuple[str, Counting, Path]) -> None:
    """No token, key or answer of the API is kept beside the rack; what is absent is asked for again."""
    url, counting, folder = mirror
    for path in ("/boot/secret-of-a-boot", "/v1/nodes", "/healthz", "/"):
        assert requests.get(url + path, timeout=30).status_code == 404
    assert counting.requests == 0
    for _ in range(2):
        absent = "/v1/artefacts/sha256:" + "0" * 64
        assert requests.get(url + absent, timeout=30).status_code == 404
    assert counting.requests == 2
    assert "secret-of-a-boot" not in (folder / "nginx" / "access.log").read_text()


def test_a_mirror_serves_on_when_the_service_is_away(mirror: tuple[str, Counting, Path]) -> None:
    url, counting, _ = mirror
    assert requests.get(url + FILE, timeout=30).content == CONTENT
    counting.server.shutdown()
    counting.server.server_close()
    assert requests.get(url + FILE, timeout=30).content == CONTENT
