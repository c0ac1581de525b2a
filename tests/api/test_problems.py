"""Every error is a problem document, and tells nobody a secret."""

import http.client
import time
from typing import Any
from urllib.parse import urlsplit

import pytest
import structlog

from api.problems import ERRORS
from provisioner import errors
from provisioner.errors import FirstlightError
from tests.api.site import Site

MEMBERS = {"type", "title", "status", "detail", "instance"}


def problem(response: Any, status: int) -> dict[str, Any]:
    """Return the document after checking its shape."""
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["Cache-Control"] == "no-store"
    document: dict[str, Any] = response.json()
    assert document.keys() >= MEMBERS
    assert document["status"] == status
    assert document["type"].startswith("urn:firstlight:problem:")
    assert document["instance"].startswith("urn:uuid:")
    assert "Traceback" not in response.text
    return document


def test_every_error_of_ours_has_a_place_in_the_table() -> None:
    ours = {one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, FirstlightError)}
    assert all(any(parent in ERRORS for parent in one.__mro__) for one in ours)


def test_unknown_paths_and_methods(shared_site: Site) -> None:
    assert problem(shared_site.get("/v2/nodes"), 404)["title"] == "Not found"
    assert problem(shared_site.request("DELETE", "/v1/nodes"), 405)["title"] == "Method not allowed"
    assert problem(shared_site.get("/docs"), 404)
    assert problem(shared_site.get("/v1/nodes/"), 404)  # no redirect: it would carry the token along
    assert "no node is called" in problem(shared_site.get("/v1/nodes/nobody"), 404)["detail"]


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"reason": "a"', b"[" * 100_000])
def test_a_body_that_is_no_json(shared_site: Site, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    problem(shared_site.post("/v1/nodes/r01-u01/hold", data=body, headers=headers), 400)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "#/reason"),
        ({"reason": ""}, "#/reason"),
        ({"reason": "x" * 501}, "#/reason"),
        ({"reason": "\x1b[2Jgone"}, "#/reason"),
        ({"reason": "nul\x00"}, "#/reason"),
        ({"reason": 5}, "#/reason"),
        ({"reason": "ok", "force": True}, "#/force"),
        ({"reason": "ok", "a/b~c d": True}, "#/a~1b~0c%20d"),
        ([], "#"),
        ("text", "#"),
    ],
)
def test_what_is_wrong_with_a_body_is_pointed_at(shared_site: Site, body: Any, pointer: str) -> None:
    document = problem(shared_site.post("/v1/nodes/r01-u01/hold", json=body), 422)
    assert document["errors"][0]["pointer"] == pointer


def test_a_body_that_is_not_said_to_be_json_is_refused(shared_site: Site) -> None:
    headers = {"Content-Type": "text/plain"}
    problem(shared_site.post("/v1/nodes/r01-u01/hold", data=b'{"reason": "a"}', headers=headers), 422)


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=501", "limit=x", "state=lost", "colour=red", "cursor=!!", "held=2"]
)
def test_what_is_wrong_with_a_query_is_named(shared_site: Site, query: str) -> None:
    document = problem(shared_site.get(f"/v1/nodes?{query}"), 422)
    name = query.split("=")[0]
    assert name in document["detail"]
    error = document["errors"][0]
    assert (error["in"], error["pointer"], error["parameter"]) == ("query", f"#/{name}", name)


def test_a_refused_password_is_not_repeated(shared_site: Site) -> None:
    body = {"username": "ADMIN", "password": "hunter2" * 100, "extra": "hunter2"}
    response = shared_site.post("/v1/nodes/r01-u01/password", json=body)
    problem(response, 422)
    assert "hunter2" not in response.text


def test_bodies_have_a_limit(shared_site: Site) -> None:
    long = {"reason": "x" * 2**20}
    assert "longer than 1048576 bytes" in problem(shared_site.post("/v1/nodes/r01-u01/hold", json=long), 413)["detail"]
    chunks = (b"x" * 2**16 for _ in range(20))
    headers = {"Content-Type": "application/json"}
    problem(shared_site.post("/v1/nodes/r01-u01/hold", data=chunks, headers=headers), 413)
    problem(shared_site.post("/v1/agent/register", role=None, json={"token": "x" * 2**13}), 413)


def test_a_declared_length_that_is_a_lie_is_refused_before_it_is_read(shared_site: Site) -> None:
    connection = http.client.HTTPConnection(urlsplit(shared_site.url).netloc, timeout=5)
    connection.putrequest("POST", "/v1/agent/register")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders(b"{")
    assert connection.getresponse().status == 413
    connection.close()


def test_the_unexpected_is_logged_and_not_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken invariant inside must neither end the connection without a word nor show what is inside."""

    def broken(*_: object) -> None:
        raise RuntimeError("secret: hunter2")

    monkeypatch.setattr(type(site.files), "path", broken)
    with structlog.testing.capture_logs() as logs:
        response = site.request("GET", "/v1/artefacts/sha256:" + "1" * 64, None)
    document = problem(response, 500)
    assert "hunter2" not in response.text
    failed = next(entry for entry in logs if entry["event"] == "request_failed")
    assert failed["instance"] == document["instance"]


def test_what_is_wrong_with_our_files_is_told_to_the_log_only(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key file that does not fit raises while firmware asks: where it lies is nothing for firmware."""

    async def broken(*_: object) -> None:
        raise errors.BadInput("/var/lib/firstlight/secret.key: no key in this file fits")

    monkeypatch.setattr(type(site.store.boots.askers), "by_key", broken)
    with structlog.testing.capture_logs() as logs:
        response = site.request("GET", "/boot/key", None)
    assert problem(response, 500)["type"] == "urn:firstlight:problem:misconfigured"
    assert "secret.key" not in response.text
    assert any("secret.key" in entry.get("error", "") for entry in logs)


def test_the_log_never_holds_a_boot_key_or_a_token(shared_site: Site) -> None:
    with structlog.testing.capture_logs() as logs:
        shared_site.request("GET", "/boot/key-of-one-boot?x=key-of-one-boot", None)
        shared_site.request("GET", "/boot/key-of-one-boot/more", None)
        shared_site.request("DELETE", "/boot/key-of-one-boot", None)
        shared_site.request("GET", "/v1/events?after=x&token=key-of-one-boot")
        shared_site.request("GET", "/v1/nodes/r01-u01")
        deadline = time.monotonic() + 5
        while len(logs) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)  # a line is written after its answer has gone out
    assert len(logs) == 5
    assert "key-of-one-boot" not in repr(logs)
    assert not any(token in repr(logs) for token in shared_site.tokens.values())
    assert logs[0]["route"] == "/boot/{key}"
    assert (logs[4]["node"], logs[4]["holder"], logs[4]["status"]) == ("r01-u01", "admin", 200)
