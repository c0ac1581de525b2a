"""Idempotency-Key over HTTP: one effect for one request, however often and wherever it is sent."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from api.app import create_app
from api.auth import Reader
from api.once import OnceRequired
from provisioner.models.role import Role
from provisioner.pulse import Pulse
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.opening import Store, open_store
from tests.api.asgi import Answer, ask
from tests.api.killed import MOMENTS
from tests.api.permissions import routes
from tests.api.service import RecordedRuns, service_on
from tests.api.site import N1, Site, expected
from tests.api.small_bmcs import SmallBmcs
from tests.store.conftest import empty_url

CHANGING_NOTHING = (":plan", ":validate", ":resolve", ":explain")
HOLD = f"/v1/nodes/{N1}/hold"
__all__ = ["empty_url"]  # the fixture: both databases


def keyed(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


def lines(site: Site) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = site.get("/v1/audit").json()["lines"]
    return found


def test_the_same_request_is_answered_alike_and_done_once(site: Site) -> None:
    first = site.post(HOLD, json={"reason": "cable"}, headers=keyed("a"))
    site.post(f"/v1/nodes/{N1}/release")
    again = site.post(HOLD, json={"reason": "cable"}, headers=keyed("a"))
    assert (first.status_code, first.text) == (again.status_code, again.text)
    assert (first.headers.get("Idempotent-Replayed"), again.headers["Idempotent-Replayed"]) == (None, "true")
    assert again.headers["Content-Type"] == "application/json"
    assert [line["what"] for line in lines(site)] == ["node.hold", "node.release"]
    assert site.node().hold is None


def test_a_quoted_key_is_the_same_key(site: Site) -> None:
    """The draft writes keys as strings of structured fields."""
    site.post(HOLD, json={"reason": "cable"}, headers=keyed('"a"'))
    again = site.post(HOLD, json={"reason": "cable"}, headers=keyed("a"))
    assert again.headers["Idempotent-Replayed"] == "true"


def test_the_same_key_with_another_request_is_refused(site: Site) -> None:
    assert site.post(HOLD, json={"reason": "cable"}, headers=keyed("a")).status_code == 200
    for path, body in ((HOLD, {"reason": "fan"}), ("/v1/nodes/r01-u02/hold", {"reason": "cable"})):
        refused = site.post(path, json=body, headers=keyed("a"))
        assert refused.status_code == 422
        assert refused.json()["type"] == "urn:firstlight:problem:idempotency-key-reused"
        assert refused.json()["errors"][0]["pointer"] == "#/Idempotency-Key"
    assert site.post(HOLD, json={"reason": "fan"}, headers=keyed("a"), role=Role.OPERATOR).status_code == 200
    assert len(lines(site)) == 2


def test_what_was_refused_is_judged_anew(site: Site) -> None:
    """It had no effect: the same key may come again, corrected."""
    assert site.post(f"/v1/nodes/{N1}/release", headers=keyed("a")).status_code == 409
    assert site.post(HOLD, json={}, headers=keyed("b")).status_code == 422
    assert site.post(HOLD, json={"reason": "cable"}, headers=keyed("b")).status_code == 200
    assert site.post(f"/v1/nodes/{N1}/release", headers=keyed("a")).status_code == 200


def test_of_fifty_at_once_one_is_done(site: Site) -> None:
    def send(_: int) -> Any:
        return site.post("/v1/tokens", json={"name": "ci", "role": "admin"}, headers=keyed("a"))

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(send, range(50)))
    good = {one.text for one in answers if one.status_code == 201}
    assert len(good) == 1
    for one in answers:
        if one.status_code != 201:
            assert (one.status_code, one.headers["Retry-After"]) == (409, "1")
            assert one.json()["type"] == "urn:firstlight:problem:request-still-running"
    assert send(0).text in good
    assert [line["what"] for line in lines(site)] == ["token.create"]


@pytest.mark.parametrize("key", ["", "a b", "ü", "x" * 256])
def test_a_key_that_is_none_is_refused(shared_site: Site, key: str) -> None:
    refused = shared_site.post(HOLD, json={"reason": "x"}, headers={"Idempotency-Key": key.encode("latin-1")})
    assert refused.status_code == 422
    error = refused.json()["errors"][0]
    assert (error["in"], error["pointer"], error["parameter"]) == ("header", "#/Idempotency-Key", "Idempotency-Key")


def test_every_route_that_people_post_to_takes_a_key(shared_site: Site) -> None:
    """Agents and firmware are known by their boot, and their requests by numbers of their own."""
    paths = shared_site.get("/v1/openapi.json").json()["paths"]
    for route in routes():
        method, path = route.split()
        if method != "POST" or path.startswith(("/v1/agent/", "/boot/")) or path.endswith(CHANGING_NOTHING):
            continue
        parameters = {one["name"] for one in paths[path]["post"].get("parameters", [])}
        assert "Idempotency-Key" in parameters, path
        assert {"400", "409", "422"} <= paths[path]["post"]["responses"].keys(), path


class Worker:
    """One of several workers on a database: its own app and store."""

    def __init__(self, url: str, folder: Path) -> None:
        self.store = open_store(url, open_cipher(folder / "key"))
        service, _ = service_on(self.store, folder, runs=RecordedRuns(), bmcs=SmallBmcs(), pulse=Pulse())
        self.app = create_app(service)
        self.token = ""

    async def send(self, path: str, key: str | None, body: Any = None) -> Answer:
        headers = [("Authorization", f"Bearer {self.token}"), ("Content-Type", "application/json")]
        if key is not None:
            headers.append(("Idempotency-Key", key))
        return await ask(self.app, "POST", path, headers, b"" if body is None else json.dumps(body).encode())


@pytest.fixture
async def worker(empty_url: str, tmp_path: Path) -> AsyncIterator[Worker]:
    """A worker with two nodes."""
    one = Worker(empty_url, tmp_path)
    await one.store.nodes.expect(expected(2), datetime.now(UTC))
    one.token = (await one.store.tokens.create("ci", Role.ADMIN)).reveal()
    yield one
    one.store.close()


def kill_at(moment: str, *where: Any) -> None:
    """Another worker takes the request with key `a`, and dies."""
    url, folder, token, path, body = where
    command = [sys.executable, "-m", "tests.api.killed", url, str(folder / "key"), str(folder), moment]
    request = ["POST", path, "a", json.dumps(body)]
    died = subprocess.run([*command, *request], input=token, text=True, capture_output=True, timeout=60)
    assert died.returncode == -signal.SIGKILL, died.stderr


async def whats(store: Store) -> list[str]:
    return [line.entry.what for line in await store.audit.page(0, 100)]


async def test_of_fifty_at_two_workers_one_is_done(worker: Worker, empty_url: str, tmp_path: Path) -> None:
    other = Worker(empty_url, tmp_path)
    other.token = worker.token
    sent = [one.send("/v1/tokens", "a", {"name": "x", "role": "admin"}) for one in (worker, other) * 25]
    answers = await asyncio.gather(*sent)
    assert {one.status for one in answers} <= {201, 409}
    assert len({one.body for one in answers if one.status == 201}) == 1
    assert await whats(worker.store) == ["token.create"]
    other.store.close()


@pytest.mark.parametrize("moment", MOMENTS)
async def test_a_worker_killed_at_any_moment_leaves_one_effect(
    worker: Worker,
    empty_url: str,
    tmp_path: Path,
    moment: str,
) -> None:
    """Before the change, between it and the answer, and behind the answer."""
    body = {"reason": "cable"}
    await asyncio.to_thread(kill_at, moment, empty_url, tmp_path, worker.token, HOLD, body)
    assert await whats(worker.store) == ([] if moment == "claimed" else ["node.hold"])
    again = await worker.send(HOLD, "a", body)
    assert (again.status, again.json()["hold"]["reason"]) == (200, "cable (held by ci)")
    assert ("idempotent-replayed" in again.headers) == (moment == "kept")
    assert await whats(worker.store) == ["node.hold"]
    assert (await worker.send(HOLD, "a", body)).headers["idempotent-replayed"] == "true"


async def test_a_token_whose_answer_was_lost_is_not_made_twice(worker: Worker, empty_url: str, tmp_path: Path) -> None:
    body = {"name": "x", "role": "admin"}
    await asyncio.to_thread(kill_at, "changed", empty_url, tmp_path, worker.token, "/v1/tokens", body)
    again = await worker.send("/v1/tokens", "a", body)
    assert again.status == 409
    assert "revoke it, and make another" in again.json()["detail"]
    assert await whats(worker.store) == ["token.create"]


async def test_where_a_key_is_required_nothing_is_done_without(worker: Worker) -> None:
    app: FastAPI = worker.app
    done = []

    @app.post("/v1/things")
    async def make(_: Reader, once: OnceRequired) -> int:
        done.append(once.done)
        return len(done)

    missing = await worker.send("/v1/things", None)
    assert (missing.status, missing.json()["type"]) == (400, "urn:firstlight:problem:idempotency-key-missing")
    assert [(await worker.send("/v1/things", key)).json() for key in ("a", "a", "b")] == [1, 1, 2]
    assert done == [None, None]


async def test_what_was_sent_and_answered_cannot_be_read_in_the_database(worker: Worker) -> None:
    made = await worker.send("/v1/tokens", "a", {"name": "x", "role": "admin"})
    with worker.store.database.reader.connect() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM request_claims").all()
    assert len(rows) == 1
    assert made.json()["token"] not in str(rows)
    assert bytes(rows[0].answer).startswith(b"gAAAA")
