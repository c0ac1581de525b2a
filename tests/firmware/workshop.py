"""Many emulated servers over HTTPS, and the product's operations up to the end of their firmware, in one event loop.

Records are in memory, time is emulated: the BMCs' answers are real. What comes after firmware never begins.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emulator.package import Header, build_package, write_packages
from emulator.persona.load import load_persona
from emulator.testing import Bmc, EmulatedFleet, RunningBmc
from profiles.firmware.component import Artefact, FirmwareComponent
from profiles.loader import SHIPPED, load_catalog
from profiles.release import Release
from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.clock import PacedClock, Wakefulness
from provisioner.errors import NotFound
from provisioner.firmware.phase import Entry, Phase
from provisioner.leases.bmc_leases import BmcLeases
from provisioner.memory_engine import MemoryEngine
from provisioner.models.identifiers import NodeName, RackName, ReleaseDigest, RunKey
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, ExpectedNode, Node
from provisioner.models.package import Package
from provisioner.models.secret import Credentials, Secret
from provisioner.operations.outcome import Outcome
from provisioner.operations.registry import OPERATIONS
from provisioner.pulls import Pulls
from provisioner.reconciler.loop import Reconciler
from provisioner.redfish.bmcs import RedfishBmcs, RedfishSettings
from provisioner.redfish.timeouts import Timeouts
from provisioner.redfish.tls import TlsMode, TlsPolicy
from tests.firmware.packages import served
from tests.operations.boot_records import MemoryBoots
from tests.operations.journal import MemoryJournal
from tests.operations.node_records import MemoryEvents, MemoryNodes
from tests.operations.records import MemoryBurnIns, MemoryDocuments, MemoryLogins, MemoryVault
from tests.operations.site import NO_HOSTS, Shelf
from tests.redfish.site import Pins

SPEED = 600.0
RELEASES = {
    "hgx-h100": "hgx-h100-2025-1",
    "dell-xe9680": "dell-xe9680-2025-1",
    "gb200-compute-tray": "gb200-2025-1",
    "hpe-xl675d": "hpe-xl675d-2026-1",
    "lenovo-sr670v2": "lenovo-sr670v2-2026-1",
}
NEWEST = {**RELEASES, "hgx-h100": "hgx-h100-2026-1", "dell-xe9680": "dell-xe9680-2026-1"}
NEWEST["gb200-compute-tray"] = "gb200-2026-1"

Change = Callable[[FirmwareComponent], FirmwareComponent]


@dataclass(frozen=True, slots=True)
class Case:
    """One server. `only`: of the release's components, these; `held`: words of the reason, empty when it gets on."""

    name: str
    faults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    persona: str = "hgx-h100"
    only: tuple[str, ...] = ()
    held: str = ""
    newest: bool = False
    change: Change | None = None
    tries: int = 1
    """How often each part that was flashed at all took the same version at most."""


@dataclass(slots=True)
class Bench:
    """Packages on a real web server; everything else of `Releases` and `Artefacts` as in simulated sites."""

    shelf: Shelf
    packages: Mapping[str, Path]
    folder: Path
    url: str

    def package(self, digest: str) -> Package | None:
        """By its digest."""
        path = self.packages.get(digest.removeprefix("sha256:"))
        if path is None:
            return None
        return Package(path, f"{self.url}/{path.relative_to(self.folder)}", path.stat().st_size)

    async def obtain(self, artefact: Artefact) -> Package:
        """Nobody else has what is absent."""
        found = self.package(artefact.sha256)
        if found is None:
            raise NotFound(f"package {artefact.file} is nowhere; put it there")
        return found

    def __getattr__(self, name: str) -> Any:
        """The rest."""
        return getattr(self.shelf, name)


@dataclass(slots=True)
class Workshop:
    """All servers of a list of cases, named by their places in it."""

    cases: Sequence[Case]
    fleet: EmulatedFleet
    world: World
    journal: MemoryJournal
    nodes: MemoryNodes
    engine: MemoryEngine
    reconciler: Reconciler

    def bmc(self, case: Case) -> RunningBmc:
        """The server of a case."""
        return self.fleet.bmcs[self.cases.index(case)]

    def node(self, case: Case) -> Node:
        """As it is now."""
        return self.nodes.rows[NodeName(self.bmc(case).name)][0]

    def entries(self, case: Case) -> list[Entry]:
        """Its journal."""
        return [one for one in self.journal.entries.values() if one.node == self.bmc(case).name]

    def truth(self, case: Case) -> dict[str, Any]:
        """What happened to the server."""
        return self.fleet.truth(self.bmc(case).name)

    def most_flashes(self, case: Case) -> int:
        """The most that one part took one version."""
        return max((n for one in self.truth(case)["flashes"].values() for n in one.values()), default=0)

    def story(self, case: Case) -> str:
        """For a test that fails."""
        node = self.node(case)
        events = [one.reason for one in self.nodes.events.all if one.node == node.name]
        steps = [
            (one.name, one.what.version, [(c.phase.value, c.reason) for c in one.changes]) for one in self.entries(case)
        ]
        return f"{node.state} {node.hold and node.hold.reason}\n{events}\n{steps}"

    async def settle(self, seconds: float = 800.0) -> None:
        """Until every node is past its firmware or waits for a person."""
        running = asyncio.ensure_future(self.reconciler.run())
        try:
            async with asyncio.timeout(seconds):
                while not all(_settled(node) for node, _ in self.nodes.rows.values()):  # noqa: ASYNC110  others move them
                    await asyncio.sleep(0.2)
        finally:
            running.cancel()
            for run in await self.engine.active():
                await self.engine.cancel(run.id)


def _settled(node: Node) -> bool:
    return node.state is State.CONFIGURING_BIOS or (node.hold is not None and node.hold.retry_at is None)


def release_of(case: Case) -> Release:
    """What a case's server shall run."""
    name = (NEWEST if case.newest else RELEASES)[case.persona]
    release = load_catalog(SHIPPED).resolve_release(name, f"sha256:image-of-{name}")
    wanted = [one for one in release.firmware.components if not case.only or one.component in case.only]
    if case.change is not None:
        wanted = [case.change(one) for one in wanted]
    firmware = release.firmware.model_copy(update={"components": tuple(wanted)})
    return release.model_copy(update={"firmware": firmware})


async def _given(durable: Durable, world: World, key: RunKey) -> Outcome:  # noqa: ARG001  an operation takes these
    """The release of the case."""
    return Outcome(State.UPDATING_FIRMWARE, "as the case says")


async def _rest(durable: Durable, world: World, key: RunKey) -> Outcome:  # noqa: ARG001  an operation takes these
    await asyncio.Event().wait()
    raise AssertionError("it waits for ever")


@asynccontextmanager
async def workshop(cases: Sequence[Case], folder: Path, speed: float = SPEED) -> AsyncIterator[Workshop]:
    """The emulator runs, and every server is known; nothing has been done to any."""
    packages = folder / "packages"
    packages.mkdir()
    personas = sorted({case.persona for case in cases})
    list(write_packages(packages, [load_persona(name) for name in personas]))
    bmcs = [Bmc(case.persona, faults=tuple({n: dict(a)} for n, a in case.faults.items()), power="On") for case in cases]
    fleet = EmulatedFleet(bmcs, speed=speed, directory=folder / "fleet", keep_state=False)
    await asyncio.to_thread(fleet.start)
    try:
        pulls, known = Pulls(), _known(cases, packages)
        async with served(packages, {path: digest for digest, path in known.items()}, pulls) as url:
            bench: Any = Bench(Shelf([release_of(case) for case in cases]), known, packages, url)
            made = await _made(cases, fleet, bench, speed, pulls)
            yield made
            await made.world.bmcs.close()
    finally:
        await asyncio.to_thread(fleet.stop)


def _known(cases: Sequence[Case], packages: Path) -> dict[str, Path]:
    """Files by digest; those that only a case has are written now."""
    known: dict[str, Path] = {}
    for case in cases:
        for wanted in release_of(case).firmware.components:
            path = known[wanted.artefact.sha256] = packages / wanted.artefact.file
            if not path.exists():  # a version of the case's own
                header = Header(wanted.component, case.persona, wanted.version)
                path.write_bytes(build_package(header, wanted.artefact.size_bytes))
    return known


async def _made(cases: Sequence[Case], fleet: EmulatedFleet, bench: Any, speed: float, pulls: Pulls) -> Workshop:
    clock, nodes, logins, vault = PacedClock(speed), MemoryNodes(MemoryEvents()), MemoryLogins(), MemoryVault()
    pins = Pins()
    releases = [release_of(case) for case in cases]
    timeouts = Timeouts(connect_seconds=10.0, read_seconds=20.0, push_seconds=60.0)
    settings = RedfishSettings(TlsPolicy(TlsMode.PIN), timeouts)
    bmcs = RedfishBmcs(BmcLeases(logins, clock), pins, clock, settings=settings)
    journal = MemoryJournal()
    world = World(
        clock, nodes, nodes.events, MemoryDocuments(), vault, MemoryBoots(nodes), MemoryBurnIns(), journal, logins,
        pins, bmcs, NO_HOSTS, bench, bench, bench.url, Wakefulness(), pulls,
    )  # fmt: skip
    for number, (one, release) in enumerate(zip(fleet.bmcs, releases, strict=True)):
        name = NodeName(one.name)
        # a rack each: the limit of a rack would make them wait for each other
        rack = RackName(f"rack-{number}")
        await nodes.expect([ExpectedNode(name, rack, 1, BmcAddress(one.address, one.port))], clock.now())
        await vault.put_factory(name, Credentials(one.username, Secret(one.password)))
        await world.documents.put_release(release)
        await nodes.assign(name, release.hardware_class.name, ReleaseDigest(release.digest))
    engine = MemoryEngine(world, {**OPERATIONS, "assign": _given, "configure_bios": _rest})
    reconciler = Reconciler(world, engine, period=0.5)  # what rests after its firmware may do so for hours
    return Workshop(cases, fleet, world, journal, nodes, engine, reconciler)


def done(entries: Sequence[Entry]) -> bool:
    """Nothing is open, and the last try of each class or part is done."""
    last = {(one.what.component, one.what.part): one for one in entries}
    return all(one.phase in {Phase.DONE, Phase.FAILED} for one in entries) and all(
        one.phase is Phase.DONE for one in last.values()
    )
