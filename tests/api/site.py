"""A site whose store and HTTP server are real; its BMCs, engine and releases are small."""

# ruff: noqa: ARG002 - the protocols tell more than these need to know

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import requests
import uvicorn
from fastapi import FastAPI

from api.app import create_app, end_streams
from images.boot_program.build import BootProgram
from images.boot_program.pe import archive_program
from images.build import build_image
from images.digest import parse_digest
from images.manifest import ImageManifest
from images.store import ArtefactAbsentError, ArtefactStore
from profiles.catalog import Catalog
from profiles.compat.load import load_facts
from profiles.firmware.component import Artefact
from profiles.loader import load_catalog
from profiles.release import Release
from provisioner.boot_programs import BootPrograms, BootSettings
from provisioner.built_images import manifest_in
from provisioner.capabilities.bmcs import Bmcs
from provisioner.capabilities.cipher import Cipher
from provisioner.capabilities.promotion_world import PromotionWorld
from provisioner.capabilities.release_stops import NoStops
from provisioner.capabilities.releases import Releases
from provisioner.capabilities.service import Service
from provisioner.capabilities.world import World
from provisioner.clock import PacedClock, Wakefulness
from provisioner.errors import NotFound
from provisioner.firmware.package.inspect import Inspection
from provisioner.models.identifiers import NodeName, OperationId, RackName, ReleaseDigest, RunKey
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, ExpectedNode, Node
from provisioner.models.operation import Run
from provisioner.models.package import Package
from provisioner.models.role import Role
from provisioner.pool_settings import default_pool
from provisioner.promotion.policy import DEFAULTS
from provisioner.pulse import Pulse
from provisioner.release_shelf import ReleaseShelf
from provisioner.statement_shelf import StatementShelf
from provisioner.store.opening import Store, open_store
from tests.api.small_bmcs import SmallBmcs

T = TypeVar("T")

N1 = NodeName("r01-u01")
PROFILES = Path(__file__).parents[2] / "profiles"


@dataclass(slots=True)
class RecordedRuns:
    """`Runs` that runs nothing and remembers what it was asked."""

    signals: list[tuple[str, str]] = field(default_factory=list)
    broken: bool = False

    async def start(self, key: RunKey, rack: RackName | None) -> None:
        raise AssertionError("the API starts no runs")

    async def cancel(self, run: OperationId) -> None:
        raise AssertionError("the API cancels no runs")

    async def signal(self, run: OperationId, topic: str) -> None:
        self.signals.append((run, topic))

    async def active(self) -> Sequence[Run]:
        if self.broken:
            raise ConnectionError("the engine's database is gone")
        return []

    async def find(self, runs: Sequence[OperationId]) -> Sequence[Run]:
        return []


@dataclass(frozen=True, slots=True)
class Files:
    """`Artefacts` over a real store."""

    store: ArtefactStore
    image: ImageManifest
    programs: BootPrograms

    def package(self, digest: str) -> Package | None:
        return None

    async def obtain(self, artefact: Artefact) -> Package:
        raise NotFound(f"package {artefact.file} is not here")

    async def inspect(self, artefact: Artefact) -> Inspection:
        raise NotFound(f"package {artefact.file} is not here")

    def manifest(self, image: str) -> ImageManifest:
        return manifest_in(self.store, parse_digest(image))

    async def uki(self, image: str) -> BootProgram | None:
        return await self.programs.of_image(self.manifest(image))

    async def ipxe(self, arch: str) -> BootProgram | None:
        return await self.programs.ipxe(arch)

    @property
    def mirrors(self) -> tuple[str, ...]:
        return ("http://mirror.example",)

    async def is_sound(self, digest: str) -> bool:
        return self.store.verify(parse_digest(digest)).is_file()

    def path(self, digest: str) -> Path:
        try:
            return self.store.path(parse_digest(digest))
        except ArtefactAbsentError as error:
            raise NotFound(str(error)) from error


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


def service_on(
    store: Store, directory: Path, *, runs: RecordedRuns, bmcs: SmallBmcs, pulse: Pulse
) -> tuple[Service, Files]:
    """What the API needs, over a store."""
    artefacts = ArtefactStore(directory / "artefacts")
    ipxe = directory / "ipxe.efi"
    ipxe.write_bytes(archive_program("x86_64", [(".data", b"iPXE")]))
    programs = BootPrograms(artefacts, directory, BootSettings("http://service", ipxe={"x86_64": ipxe}))
    files = Files(artefacts, build_image("agent", "x86_64", artefacts), programs)
    shelf = ReleaseShelf(_shipped(), {}, directory, BootSettings("http://service"), firmware_dir=None)
    world = _world(store, bmcs, files, shelf)
    service = Service(
        site="test",
        world=world,
        runs=runs,
        tokens=store.tokens,
        changes=pulse,
        found=store.found_bmcs,
        campaigns=store.campaigns,
        drift=store.drift,
        audit=store.audit,
        claims=store.claims,
        rollouts=store.rollouts,
        turns=store.turns,
        channels=store.channels,
        promotion=PromotionWorld(
            promotions=store.promotions,
            channels=store.channels,
            soaks=store.soaks,
            releases=store.release_records,
            statements=StatementShelf(artefacts, None),
            stops=NoStops(),
            policies=DEFAULTS,
            compatibility=load_facts(),
        ),
        catalog=_shipped(),
        pools={"pool": default_pool("hgx-h100-8gpu")},
    )
    return service, files


def _world(store: Store, bmcs: Bmcs, files: Files, releases: Releases) -> World:
    clock = PacedClock(speed=1)
    return World(
        clock=clock,
        nodes=store.nodes,
        events=store.events,
        documents=store.documents,
        vault=store.vault,
        boots=store.boots,
        burn_ins=store.burn_ins,
        journal=store.journal,
        logins=store.logins,
        certificates=store.certificates,
        bmcs=bmcs,
        hosts=store.hosts,
        releases=releases,
        artefacts=files,
        public_url="",
        awake=Wakefulness(),
    )


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
    release = _shipped().resolve_release("hgx-h100-2025-1", image.digest)
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


@cache
def _shipped() -> Catalog:
    return load_catalog(PROFILES)
