"""Operations and builds over HTTP, with the loop that runs them and a child process that is real."""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api.app import create_app
from provisioner.build_loop import Builder, build_next, keep_building
from provisioner.clock import PacedClock
from provisioner.models.role import Role
from provisioner.pulse import Pulse
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.store.long_operations import forget_operations
from provisioner.store.opening import Store, open_store
from tests.api.asgi import Answer, ask
from tests.api.service import RecordedRuns, service_on
from tests.api.small_bmcs import SmallBmcs
from tests.store.conftest import empty_url

__all__ = ["empty_url"]  # the fixture: both databases
DIGEST = "sha256:" + "1" * 64
CLOCK = PacedClock(0)
GOOD = f"import sys; print('gpu: pack ...', file=sys.stderr); print('{DIGEST}')"
BAD = "import sys; print('gpu: no space left', file=sys.stderr); sys.exit(1)"
LONG = "import sys, time; print('gpu: fetch ...', file=sys.stderr, flush=True); time.sleep(600)"


class Builds:
    """An app and a builder whose `firstlight` is a small program."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store = store
        service, _ = service_on(store, folder, runs=RecordedRuns(), bmcs=SmallBmcs(), pulse=Pulse())
        self.app = create_app(replace(service, world=replace(service.world, clock=CLOCK)))
        self.image = next(iter(service.catalog.images))
        self.folder = folder
        self.token = ""

    def builder(self, program: str) -> Builder:
        return Builder(self.folder, command=(sys.executable, "-c", program), tell_every=0.05)

    async def send(self, method: str, path: str, body: str = "") -> Answer:
        headers = [("Authorization", f"Bearer {self.token}"), ("Content-Type", "application/json")]
        return await ask(self.app, method, path, headers, body.encode())

    async def order(self) -> str:
        answer = await self.send("POST", "/v1/builds", f'{{"profile": "{self.image}"}}')
        assert answer.status == 202, answer.body
        assert answer.headers["location"] == f"/v1/operations/{answer.json()['name']}"
        return answer.headers["location"]

    async def read(self, location: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.send("GET", location)).json()
        assert found["done"] == ((found["result"] is None) != (found["error"] is None))
        return found

    async def until(self, location: str, **metadata: str) -> dict[str, Any]:
        for _ in range(3000):
            found = await self.read(location)
            if found["metadata"].items() >= metadata.items():
                return found
            await asyncio.sleep(0.02)
        raise AssertionError(found)


@pytest.fixture
async def builds(empty_url: str, tmp_path: Path) -> AsyncIterator[Builds]:
    """Nothing asked for."""
    store = open_store(empty_url, open_cipher(tmp_path / "key"))
    one = Builds(store, tmp_path)
    one.token = (await store.tokens.create("ci", Role.IMAGE_OWNER)).reveal()
    yield one
    store.close()


async def test_a_build_ends_with_its_image(builds: Builds) -> None:
    location = await builds.order()
    waiting = await builds.read(location)
    assert (waiting["done"], waiting["metadata"]["state"]) == (False, "waiting")
    assert await build_next(CLOCK, builds.store.operations, builds.builder(GOOD), "w")
    ended = await builds.read(location)
    assert ended["result"] == {"image": DIGEST}
    assert ended["metadata"]["who"] == "ci"
    assert not await build_next(CLOCK, builds.store.operations, builds.builder(GOOD), "w")


async def test_a_build_that_fails_says_what_it_said(builds: Builds) -> None:
    location = await builds.order()
    await build_next(CLOCK, builds.store.operations, builds.builder(BAD), "w")
    error = (await builds.read(location))["error"]
    assert error == {"code": "failed", "message": "the build ended with status 1: gpu: no space left"}


async def test_the_same_build_is_the_same_operation_until_it_has_ended(builds: Builds) -> None:
    first = await builds.order()
    assert {await builds.order() for _ in range(5)} == {first}
    assert len(await builds.store.audit.page(0, 10)) == 1
    await build_next(CLOCK, builds.store.operations, builds.builder(GOOD), "w")
    assert await builds.order() != first


async def test_progress_is_told_and_a_running_build_can_be_cancelled(builds: Builds) -> None:
    location = await builds.order()
    task = asyncio.create_task(build_next(CLOCK, builds.store.operations, builds.builder(LONG), "w"))
    running = await builds.until(location, stage="fetch")
    assert running["metadata"]["lines"] == ["gpu: fetch ..."]
    assert 0 < running["metadata"]["percent"] < 100
    for _ in range(2):
        assert (await builds.send("POST", f"{location}:cancel")).status == 200
    assert await task
    ended = await builds.read(location)
    assert ended["error"] == {"code": "cancelled", "message": "cancelled"}
    assert [line.entry.what for line in await builds.store.audit.page(0, 10)] == ["build.order", "operation.cancel"]
    assert (await builds.send("POST", f"{location}:cancel")).json() == ended


async def test_a_waiting_one_is_cancelled_at_once(builds: Builds) -> None:
    location = await builds.order()
    assert (await builds.send("POST", f"{location}:cancel")).json()["error"]["code"] == "cancelled"
    assert not await build_next(CLOCK, builds.store.operations, builds.builder(GOOD), "w")


async def test_what_a_dead_daemon_left_is_taken_up_and_never_runs_for_ever(builds: Builds) -> None:
    location = await builds.order()
    operations = builds.store.operations
    for attempt in range(1, 4):
        long_ago = datetime.now(UTC) - timedelta(hours=1)
        work = await operations.take("build", f"dead-{attempt}", datetime.now(UTC), long_ago)
        assert work is not None
        assert work.operation.attempt == attempt
        assert (await builds.read(location))["metadata"]["state"] == "running"
        assert await operations.tell(work, work.operation.progress, long_ago)
    await build_next(CLOCK, operations, builds.builder(GOOD), "w")
    assert "its daemon ended 3 times" in (await builds.read(location))["error"]["message"]
    assert work is not None
    assert not await operations.tell(work, work.operation.progress, datetime.now(UTC))


async def test_one_that_was_cut_off_is_built_by_the_next(builds: Builds) -> None:
    location = await builds.order()
    await builds.store.operations.take("build", "dead", datetime.now(UTC), datetime.now(UTC) - timedelta(hours=1))
    await build_next(CLOCK, builds.store.operations, builds.builder(GOOD), "w")
    ended = await builds.read(location)
    assert (ended["result"], ended["metadata"]["attempt"]) == ({"image": DIGEST}, 2)


async def test_of_two_daemons_on_a_host_one_builds_and_both_together_build_all(builds: Builds) -> None:
    """The log of the child shows that never two ran at once."""
    log = builds.folder / "log"
    program = (
        f"import time; f = open({str(log)!r}, 'a', buffering=1); f.write('begin '); time.sleep(0.1); "
        f"f.write('end '); print('{DIGEST}')"
    )
    images = list(builds.app.state.service.catalog.images)[:3]
    locations = []
    for image in images:
        answer = await builds.send("POST", "/v1/builds", f'{{"profile": "{image}"}}')
        locations.append(answer.headers["location"])
    loops = [
        asyncio.create_task(keep_building(CLOCK, builds.store.operations, builds.builder(program), 0.05))
        for _ in range(2)
    ]
    for location in locations:
        await builds.until(location, state="succeeded")
    for loop in loops:
        loop.cancel()
    await asyncio.gather(*loops, return_exceptions=True)
    assert log.read_text().split() == ["begin", "end"] * 3


async def test_operations_come_page_by_page(builds: Builds) -> None:
    for image in list(builds.app.state.service.catalog.images)[:3]:
        await builds.send("POST", "/v1/builds", f'{{"profile": "{image}"}}')
    first = (await builds.send("GET", "/v1/operations?limit=2")).json()
    rest = (await builds.send("GET", f"/v1/operations?limit=2&cursor={first['next']}")).json()
    names = [one["name"] for one in first["operations"] + rest["operations"]]
    assert (len(set(names)), rest["next"]) == (3, None)
    assert (await builds.send("GET", "/v1/operations?kind=other")).json()["operations"] == []
    assert (await builds.send("GET", "/v1/operations?cursor=eA")).status == 422


async def test_old_ones_are_forgotten_and_what_goes_on_is_not(builds: Builds) -> None:
    database, later = builds.store.database, datetime.now(UTC) + timedelta(hours=1)
    location = await builds.order()
    assert await forget_operations(database, later) == 0
    await build_next(CLOCK, builds.store.operations, builds.builder(GOOD), "w")
    assert await forget_operations(database, datetime.now(UTC) - timedelta(days=1)) == 0
    assert await forget_operations(database, later) == 1
    assert (await builds.send("GET", location)).status == 404


async def test_what_is_not_there_is_refused(builds: Builds) -> None:
    unknown = await builds.send("POST", "/v1/builds", '{"profile": "gpu-r58"}')
    assert unknown.status == 404
    assert "there is no image gpu-r58" in unknown.json()["detail"]
    assert (await builds.send("GET", "/v1/operations/build-1")).status == 404
    assert (await builds.send("POST", "/v1/operations/build-1:cancel")).status == 404
