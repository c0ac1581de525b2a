"""nginx with the configurations that we write, in front of a real service and as its mirror. On loopback."""

import hashlib
import http.client
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random

import pytest
import requests

from provisioner.capabilities.cipher import Cipher
from provisioner.network_boot.nginx import Front, render_cache, render_nginx
from provisioner.secrets.fernet_cipher import open_cipher
from tests.api.site import Site, running_site
from tests.requirements import need

CONTENT = Random(7).randbytes(9 * 2**20 + 17)
"""Three slices of a mirror."""
DIGEST = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
FILE = f"/v1/artefacts/{DIGEST}"


def free_port() -> int:
    """One of loopback."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        return int(holder.getsockname()[1])


@contextmanager
def nginx(folder: Path, server: str, port: int) -> Iterator[None]:
    """What we write belongs into the http block of a whole configuration."""
    need(shutil.which("nginx") or Path("/usr/sbin/nginx").exists(), "nginx is not installed")
    folder.mkdir(exist_ok=True)
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;" if os.geteuid() == 0 else ""
    whole = f"""{user} daemon off; pid {folder}/pid; error_log {folder}/error.log info; worker_processes 2;
        events {{ }} http {{ access_log {folder}/access.log; {temporary}
        {server} }}"""
    (folder / "nginx.conf").write_text(whole)
    command = [shutil.which("nginx") or "/usr/sbin/nginx", "-c", str(folder / "nginx.conf"), "-e", str(folder / "e")]
    process = subprocess.Popen(command)
    try:
        _wait(port, process, folder)
        yield
    finally:
        process.terminate()
        process.wait(timeout=30)


def _wait(port: int, process: "subprocess.Popen[bytes]", folder: Path) -> None:
    deadline = time.monotonic() + 30
    while True:
        assert process.poll() is None, (folder / "error.log").read_text()
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return


@pytest.fixture(scope="module")
def cipher(tmp_path_factory: pytest.TempPathFactory) -> Cipher:
    """For the store of the service."""
    return open_cipher(tmp_path_factory.mktemp("keys") / "key")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, cipher: Cipher) -> Iterator[Site]:
    """A service with one file."""
    folder = tmp_path_factory.mktemp("site")
    with running_site(folder, cipher) as site:
        site.files.store.put_bytes(CONTENT)
        yield site


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
        "/sha256/../../site.db",
        f"/sha256/{DIGEST[7:9]}/{DIGEST[7:]}",
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
