"""A storm of nodes that fetch large files at once."""

import asyncio
import hashlib
import http.client
import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from random import Random
from urllib.parse import urlsplit

import pytest

from api import limits
from api.limits import AllTaken, Downloads
from tests.api.site import Site

PLACES = 4
LARGE = Random(2).randbytes(48 * 2**20)
"""More than the kernel's buffers between two sockets hold: who does not read keeps the server waiting."""
SMALL = Random(3).randbytes(limits.SMALL_BYTES - 1)


@pytest.fixture
def crowded(site: Site) -> Site:
    """Four places."""
    site.app.state.downloads = Downloads(PLACES)
    return site


def put(site: Site, content: bytes) -> str:
    """The path of the file."""
    return f"/v1/artefacts/{site.files.store.put_bytes(content)}"


class Slow:
    """A client that asks and does not read."""

    def __init__(self, site: Site, path: str) -> None:
        """Ask, and wait for the head of the answer."""
        self.wire = socket.socket()
        self.wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        parts = urlsplit(site.url)
        self.wire.connect((parts.hostname, parts.port))
        self.wire.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        self.status = int(self.wire.recv(15).split()[1])

    def leave(self) -> None:
        """In the middle."""
        self.wire.close()


def taken(site: Site) -> int:
    """Places in use."""
    count: int = site.app.state.downloads.taken
    return count


def wait_for(site: Site, count: int) -> None:
    """Until so many are taken."""
    deadline = time.monotonic() + 20
    while taken(site) != count:
        assert time.monotonic() < deadline, taken(site)
        time.sleep(0.02)


def test_one_too_many_is_told_when_to_come_back(crowded: Site) -> None:
    path = put(crowded, LARGE)
    slow = [Slow(crowded, path) for _ in range(PLACES)]
    wait_for(crowded, PLACES)
    refused = crowded.request("GET", path, None)
    assert (refused.status_code, refused.json()["status"]) == (503, 503)
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert int(refused.headers["Retry-After"]) >= 1
    assert crowded.request("HEAD", path, None).status_code == 200
    assert crowded.request("GET", put(crowded, SMALL), None).content == SMALL
    assert crowded.request("GET", path, None, headers={"If-None-Match": "*"}).status_code == 304
    for one in slow:
        one.leave()
    wait_for(crowded, 0)
    assert crowded.request("GET", path, None).status_code == 200


def test_who_breaks_off_frees_his_place(crowded: Site) -> None:
    path = put(crowded, LARGE)
    for _ in range(3 * PLACES):
        Slow(crowded, path).leave()
    wait_for(crowded, 0)


def test_a_range_that_cannot_be_keeps_no_place(crowded: Site) -> None:
    path = put(crowded, LARGE)
    for _ in range(2 * PLACES):
        answer = crowded.request("GET", path, None, headers={"Range": f"bytes={len(LARGE)}-"})
        assert answer.status_code == 416
    wait_for(crowded, 0)


def test_who_takes_nothing_loses_his_place(crowded: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that hangs in its initrd, for example."""
    monkeypatch.setattr("api.routes.artefacts.STALL_SECONDS", 0.3)
    slow = Slow(crowded, put(crowded, LARGE))
    assert slow.status == 200
    wait_for(crowded, 0)
    slow.leave()


def fetch(site: Site, path: str) -> tuple[str, int]:
    """Come back as told until the file is there: its digest, and how often it was refused."""
    refused = 0
    while True:
        connection = http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if answer.status == 200:
            return hashlib.sha256(content).hexdigest(), refused
        assert answer.status == 503
        refused += 1
        time.sleep(int(answer.headers["Retry-After"]) / 20)


def test_in_a_storm_everybody_is_served_in_the_end(crowded: Site) -> None:
    content = LARGE[: 8 * 2**20]
    path = put(crowded, content)
    highest = 0

    def watch() -> None:
        nonlocal highest
        while not done:
            highest = max(highest, taken(crowded))
            time.sleep(0.001)

    done: list[bool] = []
    with ThreadPoolExecutor(41) as pool:
        watching = pool.submit(watch)
        served = list(pool.map(lambda _: fetch(crowded, path), range(40)))
        done.append(True)
        watching.result()
    assert {digest for digest, _ in served} == {hashlib.sha256(content).hexdigest()}
    assert highest <= PLACES
    assert sum(refused for _, refused in served) > 0
    wait_for(crowded, 0)


def test_waits_are_spread_and_grow_with_those_who_wait() -> None:
    downloads = Downloads(2)
    waits: list[int] = []
    with downloads.place(), downloads.place():
        for _ in range(400):
            with pytest.raises(AllTaken) as refused, downloads.place():
                pass
            waits.append(refused.value.retry_after)
    assert len(Counter(waits[-50:])) > 10, "all would come back at once"
    assert sum(waits[-50:]) > 5 * sum(waits[:50])
    assert all(1 <= wait <= 1.5 * 120 for wait in waits)
    assert downloads.taken == 0


async def test_a_cancelled_transfer_frees_its_place() -> None:
    """The server stops, or the client's task ends."""
    downloads = Downloads(1)

    async def send() -> None:
        with downloads.place():
            await asyncio.sleep(60)

    sending = asyncio.create_task(send())
    await asyncio.sleep(0)
    assert downloads.taken == 1
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    assert downloads.taken == 0
