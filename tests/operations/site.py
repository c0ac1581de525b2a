"""A whole site in memory and in simulated time: the real operations, the real reconciler, simulated servers."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from images.boot_program.build import BootProgram
from images.digest import Digest
from images.manifest import Artefact, ImageManifest
from profiles.catalog import Catalog
from profiles.firmware.component import Artefact as FirmwareArtefact
from profiles.loader import SHIPPED, load_catalog
from profiles.matching import Found, Refusal, match
from profiles.models import HardwareClass
from profiles.release import Release
from provisioner.capabilities.world import World
from provisioner.errors import NotFound, PackageError
from provisioner.firmware.package.inspect import Inspection
from provisioner.firmware.package.kinds import Kind
from provisioner.leases.login_budget import LoginBudget
from provisioner.lifecycle.table import RULES
from provisioner.memory_engine import AlwaysAwake, Crash, MemoryEngine, SimulatedClock, SimulatedLoop
from provisioner.models.identifiers import NodeName, OperationId, RackName, RunKey
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, ExpectedNode, Node
from provisioner.models.operation import Run
from provisioner.models.package import Package
from provisioner.models.secret import Credentials, Secret
from provisioner.operations.registry import OPERATIONS
from provisioner.reconciler.loop import Reconciler
from tests.operations.agent import Host
from tests.operations.bmc import SimulatedBmcs
from tests.operations.boot_records import MemoryBoots
from tests.operations.journal import MemoryJournal
from tests.operations.node_records import MemoryEvents, MemoryNodes
from tests.operations.records import (
    MemoryBurnIns,
    MemoryCertificates,
    MemoryDocuments,
    MemoryLogins,
    MemoryVault,
)
from tests.operations.server import FACTORY, Server

H100 = "hgx-h100-2025-1"
PERIOD = 20.0
"""Simulated seconds between two passes of the reconciler."""
REFUSED_LOGINS = 2
NO_HOSTS: Any = None
"""No operation asks who has which address."""


@cache
def shipped() -> Catalog:
    """The profiles of the product."""
    return load_catalog(SHIPPED)


@cache
def release_named(name: str) -> Release:
    """A shipped release with an image of its own."""
    return shipped().resolve_release(name, f"sha256:image-of-{name}")


@dataclass(slots=True)
class Shelf:
    """`Releases` and `Artefacts`. A package's path is the digest of its content."""

    releases: Sequence[Release]
    absent: Collection[str] = ()
    """Digests of packages that nobody has put there."""
    signed: bool = False
    sound: bool = True
    others: dict[str, Release] = field(default_factory=dict)
    spoiled: dict[str, PackageError] = field(default_factory=dict)
    """What is wrong with a package, by its digest."""

    def hardware_class(self, found: Found) -> HardwareClass | Refusal:
        """As the shipped profiles say."""
        return match(shipped(), found)

    def desired(self, hardware_class: str) -> Release | None:
        """The one of that class."""
        return next((one for one in self.releases if one.hardware_class.name == hardware_class), None)

    def package(self, digest: str) -> Package | None:
        """Every package is there, but for the absent ones."""
        sha256 = digest.removeprefix("sha256:")
        return None if digest in self.absent else Package(Path(sha256), f"http://site/{digest}", 1)

    async def obtain(self, artefact: FirmwareArtefact) -> Package:
        """Nobody else has what is absent."""
        found = self.package(f"sha256:{artefact.sha256}")
        if found is None:
            raise NotFound(f"package {artefact.file} is nowhere; put it there")
        return found

    async def inspect(self, artefact: FirmwareArtefact) -> Inspection:
        """As the catalog says, in a form that tells no more."""
        if problem := self.spoiled.get(f"sha256:{artefact.sha256}"):
            raise problem
        return Inspection(Kind.UNKNOWN, "a file", artefact.size_bytes, artefact.sha256)

    def named(self, name: str) -> Release:
        """A shipped one, or one of the test's own."""
        return self.others.get(name) or release_named(name)

    def manifest(self, image: str) -> ImageManifest:
        """One root for each image."""
        root = Artefact("root", Digest(f"sha256:root-of-{image}"), 1)
        return ImageManifest("agent", "x86_64", (root,))

    async def uki(self, image: str) -> BootProgram | None:
        """One for each image."""
        return BootProgram(Digest(f"sha256:program-of-{image}"), 1, self.signed)

    async def ipxe(self, arch: str) -> BootProgram | None:  # noqa: ARG002  as the protocol
        """Nobody asks here."""
        return None

    @property
    def mirrors(self) -> tuple[str, ...]:
        """None."""
        return ()

    async def is_sound(self, digest: str) -> bool:
        """Packages are; roots as the test says."""
        return self.sound or "root-of" not in digest

    def path(self, digest: str) -> Path:
        """Nobody reads it."""
        return Path(digest)


@dataclass(slots=True)
class WatchedRuns:
    """`Runs` that see whether a run is started beside another one of the same node."""

    engine: MemoryEngine
    nodes: MemoryNodes
    started: list[OperationId] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)

    async def start(self, key: RunKey, rack: RackName | None) -> None:
        """Look, then start."""
        if not await self.engine.find([key.id]):
            self.started.append(key.id)
            node = await self.nodes.get(key.node)
            active = [run.id for run in await self.engine.active() if RunKey.parse(run.id).node == key.node]
            self.beside.extend(f"{key.id} beside {run}" for run in active if not _has_led_to(run, node.state))
        await self.engine.start(key, rack)

    async def cancel(self, run: OperationId) -> None:
        """As it is."""
        await self.engine.cancel(run)

    async def signal(self, run: OperationId, topic: str) -> None:
        """As it is."""
        await self.engine.signal(run, topic)

    async def active(self) -> Sequence[Run]:
        """As it is."""
        return await self.engine.active()

    async def find(self, runs: Sequence[OperationId]) -> Sequence[Run]:
        """As it is."""
        return await self.engine.find(runs)


@dataclass(slots=True)
class Site:
    """`crashes`: the process dies at these moments, counted before and after the body of every step."""

    servers: Sequence[Server]
    crashes: Collection[int] = ()
    reconcilers: int = 1
    absent: Collection[str] = ()
    signed: bool = False
    """Boot programs are signed."""
    sound: bool = True
    """Our own copies of files are what they should be."""
    spoiled: Mapping[str, PackageError] = field(default_factory=dict)
    people: Callable[["Site"], Awaitable[None]] | None = None
    """Somebody who acts beside the reconciler; the site goes on until he is done, and then as long as it needs."""
    steps: int = 0
    most_flashing: int = 0
    """Servers that were being flashed at the same time."""
    seconds: float = 0.0
    """Simulated time at the end."""
    world: World = field(init=False)
    shelf: Shelf = field(init=False)
    engine: MemoryEngine = field(init=False)
    runs: WatchedRuns = field(init=False)
    nodes: MemoryNodes = field(init=False)
    vault: MemoryVault = field(init=False)
    journal: MemoryJournal = field(init=False)
    documents: MemoryDocuments = field(init=False)
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def run(self, hours: float = 48.0) -> list[Node]:
        """Until every node is ready or waits for a person, at most so long; the nodes as they are then."""
        with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
            return runner.run(self._live(hours))

    def events_of(self, name: str) -> list[str]:
        """Reasons, oldest first."""
        return [event.reason for event in self.nodes.events.all if event.node == name]

    def path_of(self, name: str) -> list[State]:
        """The states that the node went through."""
        return [event.to_state for event in self.nodes.events.all if event.node == name and event.to_state]

    async def _live(self, hours: float) -> list[Node]:
        await self._open()
        loop = asyncio.get_running_loop()
        acting = asyncio.ensure_future(self.people(self)) if self.people else None
        while loop.time() < hours * 3600:
            await asyncio.sleep(PERIOD)
            if (acting is None or acting.done()) and all(_settled(node) for node in await self.nodes.all()):
                break
        if acting is not None:
            acting.result()
        self.seconds = loop.time()
        for task in self._tasks:
            task.cancel()
        return list(await self.nodes.all())

    async def _open(self) -> None:
        clock, releases = SimulatedClock(), [server.release for server in self.servers]
        self.shelf = shelf = Shelf(releases, self.absent, self.signed, self.sound, spoiled=dict(self.spoiled))
        self.nodes, self.vault, self.journal = MemoryNodes(MemoryEvents()), MemoryVault(), MemoryJournal()
        self.documents, logins = MemoryDocuments(), MemoryLogins()
        bmcs = SimulatedBmcs(LoginBudget(logins, clock, REFUSED_LOGINS))
        self.world = World(
            clock, self.nodes, self.nodes.events, self.documents, self.vault, MemoryBoots(self.nodes),
            MemoryBurnIns(), self.journal, logins, MemoryCertificates(), bmcs, NO_HOSTS, shelf, shelf, "http://site",
            AlwaysAwake(clock.now()),
        )  # fmt: skip
        self.engine = MemoryEngine(self.world, OPERATIONS, crash=self._crash)
        self.runs = WatchedRuns(self.engine, self.nodes)
        for number, server in enumerate(self.servers):
            await self._rack(number, server, bmcs)
        for number in range(self.reconcilers):
            reconciler = Reconciler(self.world, self.runs, period=PERIOD + 0.7 * number)
            self._tasks.append(asyncio.ensure_future(reconciler.run()))

    async def _rack(self, number: int, server: Server, bmcs: SimulatedBmcs) -> None:
        name, address = NodeName(server.name), BmcAddress(f"10.0.0.{number + 1}")
        host = Host(server, self.world, self.runs)
        server.on_boot, server.on_power_lost = host.boot, host.die
        bmcs.servers[address] = server
        await self.nodes.expect([ExpectedNode(name, RackName("r01"), number + 1, address)], self.world.clock.now())
        await self.vault.put_factory(name, Credentials("ADMIN", Secret(FACTORY)))
        for at in server.faults.bmc_resets:
            asyncio.get_running_loop().call_at(at, lambda: server.reset_bmc(by_itself=True))
        self._tasks.append(asyncio.ensure_future(self._trip(name, server)))

    async def _trip(self, name: NodeName, server: Server) -> None:
        """Lose power so many seconds after the node began to boot, while it boots or burns in."""
        if not server.faults.power_losses:
            return
        while True:
            await asyncio.sleep(1)
            if (await self.nodes.get(name)).state is State.BOOTING:
                break
        begun = asyncio.get_running_loop().time()
        for after in sorted(server.faults.power_losses):
            await asyncio.sleep(max(0.0, begun + after - asyncio.get_running_loop().time()))
            if (await self.nodes.get(name)).state in {State.BOOTING, State.BURNING_IN}:
                server.lose_power()

    def _crash(self, step: str) -> None:
        self.steps += 1
        self.most_flashing = max(self.most_flashing, sum(bool(server.running()) for server in self.servers))
        if self.steps in self.crashes:
            asyncio.get_running_loop().call_soon(self.engine.restart)
            raise Crash(step)


def _has_led_to(run: OperationId, state: State) -> bool:
    """Its last step has moved the node; only the engine has not noted its end, as when that step is run once more."""
    return any(rule.operation == RunKey.parse(run).operation and state in rule.to for rule in RULES.values())


def _settled(node: Node) -> bool:
    """Ready, or held until a person acts."""
    return node.state is State.READY or (node.hold is not None and node.hold.retry_at is None)


def server(name: str = "r01-u01", release: str = H100, **fields: object) -> Server:
    """One with a serial number of its own."""
    number = sum(ord(letter) * 31**index for index, letter in enumerate(name))
    serial, uuid = f"S{number}X", f"{number:032x}"
    return Server(name=name, release=release_named(release), **{"serial": serial, "uuid": uuid, **fields})  # type: ignore[arg-type]  # fields of Server
