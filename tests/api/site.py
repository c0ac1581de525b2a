"""A site whose store and HTTP server are real; its BMCs, engine and releases are small."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import requests
import uvicorn
from fastapi import FastAPI

from api.app import create_app, end_streams
from images.manifest import ImageManifest
from profiles.release import Release
from provisioner.capabilities.cipher import Cipher
from provisioner.capabilities.service import Service
from provisioner.models.identifiers import NodeName, RackName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, ExpectedNode, Node
from provisioner.models.role import Role
from provisioner.pulse import Pulse
from provisioner.store.opening import Store, open_store
from tests.api.service import Files, RecordedRuns, service_on, shipped
from tests.api.small_bmcs import SmallBmcs

T = TypeVar("T")

N1 = NodeName("r01-u01")


@dataclass(slots=True)
class Site:
    """One running site, seen from a test."""

    url: str
    store: Store
    service: Service
    runs: RecordedRuns
    bmcs: SmallBmcs
    files: Files
    tokens: Mapping[Role, str]
    loop: asyncio.AbstractEventLoop
    stop: Callable[[], None]
    app: FastAPI

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something on the loop of the service."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    def request(self, method: str, path: str, role: Role | None = Role.ADMIN, **more: Any) -> requests.Response:
        """One request, with the token of a role."""
        headers = {**more.pop("headers", {})}
        if role is not None:
            headers.setdefault("Authorization", f"Bearer {self.tokens[role]}")
        return requests.request(method, self.url + path, headers=headers, timeout=10, **more)

    def get(self, path: str, **more: Any) -> requests.Response:
        """GET as an administrator."""
        return self.request("GET", path, **more)

    def post(self, path: str, **more: Any) -> requests.Response:
        """POST as an administrator."""
        return self.request("POST", path, **more)

    def node(self, name: NodeName = N1) -> Node:
        """The node as it is now."""
        return self.run(self.store.nodes.get(name))

    def move(self, to: State, name: NodeName = N1) -> Node:
        """Bring a node into a state."""
        assert self.run(self.store.nodes.advance(self.node(name), to, "the test says so", datetime.now(UTC)))
        return self.node(name)

    def release(self, heartbeat: timedelta = timedelta(seconds=1)) -> Release:
        """Give N1 a release with quick checks and the image that this site has."""
        release = quick_release(self.files.image, heartbeat)
        self.run(self.store.documents.put_release(release))
        self.run(self.store.nodes.assign(N1, release.hardware_class.name, ReleaseDigest(release.digest)))
        return release


class _Server(uvicorn.Server):
    def capture_signals(self) -> Any:
        return nullcontext()


@contextmanager
def running_site(directory: Path, cipher: Cipher, nodes: int = 2) -> Iterator[Site]:
    """A site with its server on a free port."""
    ready: list[Site] = []
    started = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(directory, cipher, nodes, ready, started)))
    thread.start()
    assert started.wait(20), "the server did not start"
    try:
        yield ready[0]
    finally:
        ready[0].stop()
        thread.join(20)
        assert not thread.is_alive(), "the server did not end"


async def _serve(directory: Path, cipher: Cipher, nodes: int, ready: list[Site], started: threading.Event) -> None:
    pulse, runs, bmcs = Pulse(), RecordedRuns(), SmallBmcs()
    store = open_store(f"sqlite:///{directory}/site.db", cipher, pulse.beat)
    service, files = service_on(store, directory, runs=runs, bmcs=bmcs, pulse=pulse)
    world, app = service.world, create_app(service)
    server = _Server(uvicorn.Config(app, port=0, access_log=False, log_config=None, lifespan="off"))
    await store.nodes.expect(expected(nodes), world.clock.now())
    tokens = {role: (await store.tokens.create(role.value, role)).reveal() for role in Role}
    loop = asyncio.get_running_loop()

    def stop() -> None:
        server.should_exit = True
        loop.call_soon_threadsafe(end_streams, app)

    serving = asyncio.create_task(server.serve())
    while not server.started:  # noqa: ASYNC110 - uvicorn tells in no other way
        await asyncio.sleep(0.01)
    url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    service = replace(service, world=replace(world, public_url=url))
    app.state.service = service
    ready.append(Site(url, store, service, runs, bmcs, files, tokens, loop, stop, app))
    started.set()
    await serving
    store.close()


def expected(count: int) -> Sequence[ExpectedNode]:
    """`count` nodes, 16 to a rack."""
    places = [(index // 16 + 1, index % 16 + 1) for index in range(count)]
    return [
        ExpectedNode(
            name=NodeName(f"r{rack:02}-u{position:02}"),
            rack=RackName(f"r{rack:02}"),
            position=position,
            bmc=BmcAddress(f"127.20.{rack}.{position}", 8443),
            serial=f"S{rack}-{position}",
        )
        for rack, position in places
    ]


def quick_release(image: ImageManifest, heartbeat: timedelta) -> Release:
    """A shipped release with our image and checks that take no time."""
    release = shipped().resolve_release("hgx-h100-2025-1", image.digest)
    quick: dict[str, dict[str, int | float]] = {
        "cpu": {"seconds": 0.1},
        "memory": {"mebibytes": 2, "passes": 1},
        "disk": {"mebibytes": 2},
    }
    items = tuple(
        item.model_copy(update={"parameters": quick[item.kind], "floors": {}, "ceilings": {}})
        for item in release.burn_in.items
    )
    plan = release.burn_in.model_copy(update={"heartbeat": heartbeat, "items": items})
    return release.model_copy(update={"burn_in": plan})
