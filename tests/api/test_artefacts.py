"""Files by digest."""

import hashlib
import http.client
from random import Random
from urllib.parse import urlsplit

import pytest

from tests.api.site import Site

CONTENT = Random(1).randbytes(700_000)
DIGEST = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


@pytest.fixture(scope="module")
def path(shared_site: Site) -> str:
    """Return the path of a file on the site."""
    return f"/v1/artefacts/{shared_site.files.store.put_bytes(CONTENT)}"


def test_the_whole_file(shared_site: Site, path: str) -> None:
    response = shared_site.request("GET", path, None)
    assert response.content == CONTENT
    assert response.headers["ETag"] == f'"{DIGEST}"'
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert response.headers["Accept-Ranges"] == "bytes"


def test_head_tells_the_length(shared_site: Site, path: str) -> None:
    response = shared_site.request("HEAD", path, None)
    assert (response.content, response.headers["Content-Length"]) == (b"", str(len(CONTENT)))


@pytest.mark.parametrize(
    ("wanted", "part"),
    [
        ("0-0", slice(0, 1)),
        ("100-299999", slice(100, 300_000)),
        ("-5", slice(-5, None)),
        ("699999-", slice(-1, None)),
        ("0-9999999", slice(None)),
    ],
)
def test_a_range(shared_site: Site, path: str, wanted: str, part: slice) -> None:
    headers = {"Range": f"bytes={wanted}", "If-Range": f'"{DIGEST}"'}
    response = shared_site.request("GET", path, None, headers=headers)
    assert response.status_code == 206
    assert response.content == CONTENT[part]


def test_a_range_of_something_else_is_the_whole_file(shared_site: Site, path: str) -> None:
    response = shared_site.request("GET", path, None, headers={"Range": "bytes=0-0", "If-Range": '"sha256:old"'})
    assert (response.status_code, len(response.content)) == (200, len(CONTENT))


def test_a_range_that_cannot_be_is_a_problem(shared_site: Site, path: str) -> None:
    response = shared_site.request("GET", path, None, headers={"Range": "bytes=700000-"})
    assert response.status_code == 416
    assert response.headers["Content-Range"] == f"bytes */{len(CONTENT)}"
    assert response.headers["Content-Type"] == "application/problem+json"
    malformed = shared_site.request("GET", path, None, headers={"Range": "lines=1-2"})
    assert malformed.status_code == 400
    assert malformed.json()["status"] == 400


def test_who_has_it_does_not_get_it_again(shared_site: Site, path: str) -> None:
    response = shared_site.request("GET", path, None, headers={"If-None-Match": f'"x", "{DIGEST}"'})
    assert (response.status_code, response.content) == (304, b"")
    assert response.headers["ETag"] == f'"{DIGEST}"'


@pytest.mark.parametrize(
    "name",
    [
        "sha256:" + "0" * 64,
        "sha256:" + "A" * 64,
        "0" * 64,
        "md5:" + "0" * 32,
        "..%2f..%2f..%2fetc%2fpasswd",
        "sha256:..%2f..%2f..%2fkey",
        "../../../../etc/passwd",
        "sha256:" + "0" * 64 + "%00",
        "sha256:" + "0" * 64 + "%0a",
        "%c0%ae%c0%ae",
        "",
        ".",
    ],
)
def test_nothing_but_a_digest_names_a_file(shared_site: Site, name: str) -> None:
    connection = http.client.HTTPConnection(urlsplit(shared_site.url).netloc, timeout=5)
    connection.request("GET", f"/v1/artefacts/{name}")  # as it is: requests would tidy the path
    assert connection.getresponse().status == 404
    connection.close()
