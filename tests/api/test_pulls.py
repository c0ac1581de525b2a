"""Who has fetched which firmware package: seen by the service that serves it, over real HTTP."""

import hashlib
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from urllib.parse import urlsplit

import pytest

from provisioner.pulls import LONGEST, Fetched, Pull, Pulls
from tests.api.site import Site

CONTENT = Random(2).randbytes(12_000_000)
DIGEST = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
LOCAL = "127.0.0.1"
START = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def site(shared_site: Site) -> Iterator[Site]:
    """A site for which the file is a firmware package, and which nobody has fetched it from."""
    shared_site.files.store.put_bytes(CONTENT)
    before = shared_site.app.state.service
    world = replace(before.world, pulls=Pulls())
    service = replace(before, world=world, packages=frozenset({DIGEST}))
    shared_site.app.state.service = service
    yield replace(shared_site, service=service)
    shared_site.app.state.service = before


def _last(site: Site) -> Pull | None:
    """The note is made when the connection is done, a moment after the client has the last byte."""
    pulls = site.service.world.pulls
    ends = time.monotonic() + 10
    while pulls.last(LOCAL, DIGEST) is None and time.monotonic() < ends:
        time.sleep(0.01)
    return pulls.last(LOCAL, DIGEST)


def test_a_whole_download_is_noted(site: Site) -> None:
    assert site.service.world.pulls.last(LOCAL, DIGEST) is None
    assert site.request("GET", f"/v1/artefacts/{DIGEST}", None).content == CONTENT
    pull = _last(site)
    assert pull is not None
    assert (pull.address, pull.digest, pull.bytes, pull.finished) == (LOCAL, DIGEST, len(CONTENT), True)


def test_one_that_is_given_up_is_noted_as_unfinished(site: Site) -> None:
    """A BMC whose memory is full, or whose route drops large packets."""
    parts = urlsplit(site.url)
    with socket.create_connection((parts.hostname or "", parts.port or 0)) as connection:
        connection.sendall(f"GET /v1/artefacts/{DIGEST} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        taken = 0
        while taken < 1_000_000:  # headers alone are no download
            taken += len(connection.recv(65536))
    pull = _last(site)
    assert pull is not None
    assert not pull.finished
    assert 0 < pull.bytes < len(CONTENT)


@pytest.mark.parametrize(("method", "headers"), [("HEAD", {}), ("GET", {"Range": "bytes=99999999-"})])
def test_what_gets_no_byte_of_the_file_is_no_download(site: Site, method: str, headers: dict[str, str]) -> None:
    site.request(method, f"/v1/artefacts/{DIGEST}", None, headers=headers)
    site.request("GET", f"/v1/artefacts/{DIGEST}", None, headers={"Range": "bytes=0-9"})
    pull = _last(site)
    assert pull is not None
    assert pull.bytes == 10, "only the range that came after it"


def test_the_memory_is_bounded_for_each_address() -> None:
    """The newest one of a file counts; what is older than 32 downloads of the same address is forgotten."""
    pulls = Pulls()
    first = Pull("10.0.0.1", "sha256:a", START, 1, finished=False)
    pulls.note(first)
    pulls.note(replace(first, at=START + timedelta(minutes=1), finished=True))
    assert pulls.last("10.0.0.1", "sha256:a") == replace(first, at=START + timedelta(minutes=1), finished=True)
    assert pulls.last("10.0.0.2", "sha256:a") is None
    for number in range(LONGEST):
        pulls.note(Pull("10.0.0.1", f"sha256:{number}", START, 1, finished=True))
    assert pulls.last("10.0.0.1", "sha256:a") is None
    assert pulls.last("10.0.0.1", "sha256:0") is not None


def test_a_download_that_is_on_its_way_is_seen_and_is_none_that_has_ended(site: Site) -> None:
    """A slow link is not a BMC that never came."""
    pulls, parts = site.service.world.pulls, urlsplit(site.url)
    pulls.told(LOCAL, DIGEST, START)
    before = pulls.fetched(LOCAL, DIGEST)
    assert before is not None
    assert before.last is None
    with socket.create_connection((parts.hostname or "", parts.port or 0)) as connection:
        connection.sendall(f"GET /v1/artefacts/{DIGEST} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 200")
        connection.recv(1)
        during = pulls.fetched(LOCAL, DIGEST)
        assert during is not None
        assert (during.times, during.bytes, during.last is None) == (1, 0, False)
        assert pulls.last(LOCAL, DIGEST) is None
    pull = _last(site)
    after = pulls.fetched(LOCAL, DIGEST)
    assert pull is not None
    assert after is not None
    assert (after.times, after.bytes, after.last) == (1, pull.bytes, pull.at)


def test_only_what_came_since_it_was_told_counts() -> None:
    """Ranges add up; what it took for an earlier attempt does not."""
    pulls, later = Pulls(), START + timedelta(minutes=5)
    pulls.note(Pull("10.0.0.1", "sha256:a", START, 7, finished=True))
    assert pulls.fetched("10.0.0.1", "sha256:a") is None, "nobody told it"
    pulls.told("10.0.0.1", "sha256:a", later)
    assert pulls.fetched("10.0.0.1", "sha256:b") is None
    assert pulls.fetched("10.0.0.1", "sha256:a") == Fetched(0, 0, None)
    for at, count in ((later, 3), (later + timedelta(seconds=1), 4)):
        pulls.note(Pull("::ffff:10.0.0.1", "sha256:a", at, count, finished=True))
    assert pulls.fetched("10.0.0.1", "sha256:a") == Fetched(2, 7, later + timedelta(seconds=1))
    pulls.not_told("10.0.0.1")
    assert pulls.fetched("10.0.0.1", "sha256:a") is None


def test_nothing_is_said_of_a_bmc_that_is_known_by_a_name() -> None:
    """Its downloads come from an address, and nobody knows whether that is its own."""
    pulls = Pulls()
    pulls.told("bmc-17.example", "sha256:a", START)
    assert pulls.fetched("bmc-17.example", "sha256:a") is None
