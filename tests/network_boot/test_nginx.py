"""nginx with the configuration that we write, in front of a real service."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from provisioner.network_boot.nginx import Front, render_nginx
from tests.api.site import Site
from tests.network_boot.web_server import CONTENT, DIGEST, FILE, free_port, nginx


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory, service: Site) -> Iterator[tuple[str, Path]]:
    """The URL of nginx before it, and nginx's folder."""
    port, folder = free_port(), tmp_path_factory.mktemp("nginx")
    url = f"http://127.0.0.1:{port}"
    behind = int(service.url.rsplit(":", 1)[1])
    server = render_nginx(Front("trial", url, "127.0.0.1", behind, service.files.store.root.parent, bodies=4))
    with nginx(folder, server, port):
        yield url, folder


def test_a_file_leaves_as_the_service_would_send_it(front: tuple[str, Path], service: Site) -> None:
    """The same bytes, digest and caching; but straight from the disk."""
    ours, theirs = requests.get(front[0] + FILE, timeout=30), requests.get(service.url + FILE, timeout=30)
    assert ours.content == theirs.content == CONTENT
    assert "nginx" in ours.headers["Server"]
    for name in ("ETag", "Cache-Control", "Content-Type", "Content-Length", "Accept-Ranges"):
        assert ours.headers[name] == theirs.headers[name], name


@pytest.mark.parametrize(
    ("wanted", "part"),
    [("0-0", slice(0, 1)), ("5000000-8999999", slice(5_000_000, 9_000_000)), ("-5", slice(-5, None))],
)
def test_a_broken_transfer_goes_on_where_it_broke(front: tuple[str, Path], wanted: str, part: slice) -> None:
    """With the digest as the validator: nginx's own would be lost with the file's time."""
    headers = {"Range": f"bytes={wanted}", "If-Range": f'"{DIGEST}"'}
    answer = requests.get(front[0] + FILE, headers=headers, timeout=30)
    assert (answer.status_code, answer.content) == (206, CONTENT[part])
    other = requests.get(front[0] + FILE, headers=headers | {"If-Range": '"sha256:0"'}, timeout=30)
    assert (other.status_code, len(other.content)) == (200, len(CONTENT))


def test_head_and_what_the_asker_has(front: tuple[str, Path]) -> None:
    head = requests.head(front[0] + FILE, timeout=30)
    assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(CONTENT)))
    has_it = requests.get(front[0] + FILE, headers={"If-None-Match": f'"x", "{DIGEST}"'}, timeout=30)
    assert (has_it.status_code, has_it.content, has_it.headers["ETag"]) == (304, b"", f'"{DIGEST}"')
    has_another = requests.get(front[0] + FILE, headers={"If-None-Match": '"sha256:' + "0" * 64 + '"'}, timeout=30)
    assert has_another.status_code == 200


@pytest.mark.parametrize("path", ["/v1/artefacts/sha256:" + "0" * 64, "/v1/artefacts/x", "/v1/nothing", "/healthz"])
def test_the_service_answers_the_rest(front: tuple[str, Path], service: Site, path: str) -> None:
    """404 of a file too: with the service's own words."""
    ours, theirs = requests.get(front[0] + path, timeout=30), requests.get(service.url + path, timeout=30)
    assert ours.status_code == theirs.status_code
    assert ours.headers["Content-Type"] == theirs.headers["Content-Type"]


@pytest.mark.parametrize(
    "path",
    [
        "/v1/artefacts/../../site.db",
        "/v1/artefacts/sha256:..%2f..%2f..%2fsite.db",
        "/blobs/sha256/../../site.db",
        f"/blobs/sha256/{DIGEST[7:]}",
        "/artefacts/..%2fsite.db",
    ],
)
def test_nothing_but_a_digest_leads_to_a_file(front: tuple[str, Path], path: str) -> None:
    connection = http.client.HTTPConnection(front[0].removeprefix("http://"), timeout=30)
    connection.request("GET", path)
    assert connection.getresponse().status in {400, 404}
    connection.close()


def test_keys_of_boots_are_in_no_log(front: tuple[str, Path]) -> None:
    """Neither when it goes well nor when the service is away."""
    url, folder = front
    assert requests.get(f"{url}/boot/secret-of-a-boot", timeout=30).status_code == 200
    requests.get(url + FILE, timeout=30)
    dead, port = free_port(), free_port()
    server = render_nginx(Front("trial", f"http://127.0.0.1:{port}", "127.0.0.1", dead, folder))
    with nginx(folder / "dead", server, port):
        assert requests.get(f"http://127.0.0.1:{port}/boot/secret-of-a-boot/x.efi", timeout=30).status_code == 502
        assert requests.get(f"http://127.0.0.1:{port}/healthz", timeout=30).status_code == 502
    logs = [one for one in folder.rglob("*") if one.is_file() and one.name in {"access.log", "error.log", "e"}]
    text = "".join(one.read_text() for one in logs)
    assert "secret-of-a-boot" not in text
    assert FILE in text
    assert "/healthz" in text


def test_the_service_learns_who_asks(tmp_path: Path) -> None:
    """It maps addresses to leases; what a client writes into the header itself does not count."""
    seen: list[str] = []

    class Api(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["X-Forwarded-For"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Api) as api:
        threading.Thread(target=api.serve_forever, daemon=True).start()
        port = free_port()
        server = render_nginx(Front("trial", f"http://127.0.0.1:{port}", "127.0.0.1", api.server_port, tmp_path))
        with nginx(tmp_path / "nginx", server, port):
            claims = {"X-Forwarded-For": "10.0.0.9"}
            requests.get(f"http://127.0.0.1:{port}/boot/uefi/x86_64.efi", headers=claims, timeout=30)
        api.shutdown()
    assert seen == ["127.0.0.1"]


def slow_get(url: str) -> socket.socket:
    """A client that asks and does not read."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    wire = socket.socket()
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.connect((host, int(port)))
    wire.sendall(f"GET {FILE} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert b"200 OK" in wire.recv(20)
    return wire


def test_one_too_many_is_told_when_to_come_back(front: tuple[str, Path]) -> None:
    """As the service itself does; HEAD is free."""
    slow = [slow_get(front[0]) for _ in range(4)]
    refused = [requests.get(front[0] + FILE, timeout=30) for _ in range(30)]
    assert {one.status_code for one in refused} == {503}
    assert len({int(one.headers["Retry-After"]) for one in refused}) > 1
    assert all(one.headers["Cache-Control"] == "no-store" for one in refused)
    assert requests.head(front[0] + FILE, timeout=30).status_code == 200
    for wire in slow:
        wire.close()
    deadline = time.monotonic() + 20
    while requests.get(front[0] + FILE, timeout=30).status_code == 503:
        assert time.monotonic() < deadline
        time.sleep(0.1)
