"""What the API stands on in tests: a real store and artefacts; small BMCs, an engine that runs nothing."""

# ruff: noqa: ARG002 - the protocols tell more than these need to know

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

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
from provisioner.boot_programs import BootPrograms, BootSettings
from provisioner.built_images import manifest_in
from provisioner.capabilities.bmcs import Bmcs
from provisioner.capabilities.promotion_world import PromotionWorld
from provisioner.capabilities.releases import Releases
from provisioner.capabilities.service import Service
from provisioner.capabilities.world import World
from provisioner.clock import PacedClock, Wakefulness
from provisioner.errors import NotFound
from provisioner.firmware.package.inspect import Inspection
from provisioner.models.identifiers import OperationId, RackName, RunKey
from provisioner.models.operation import Run
from provisioner.models.package import Package
from provisioner.pool_settings import default_pool
from provisioner.promotion.policy import DEFAULTS
from provisioner.pulse import Pulse
from provisioner.release_shelf import ReleaseShelf
from provisioner.statement_shelf import StatementShelf
from provisioner.store.opening import Store
from tests.api.small_bmcs import SmallBmcs

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


def service_on(
    store: Store, directory: Path, *, runs: RecordedRuns, bmcs: SmallBmcs, pulse: Pulse
) -> tuple[Service, Files]:
    """What the API needs, over a store."""
    artefacts = ArtefactStore(directory / "artefacts")
    ipxe = directory / "ipxe.efi"
    ipxe.write_bytes(archive_program("x86_64", [(".data", b"iPXE")]))
    programs = BootPrograms(artefacts, directory, BootSettings("http://service", ipxe={"x86_64": ipxe}))
    files = Files(artefacts, build_image("agent", "x86_64", artefacts), programs)
    shelf = ReleaseShelf(shipped(), {}, directory, BootSettings("http://service"), firmware_dir=None)
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
        operations=store.operations,
        webhooks=store.webhooks,
        rollouts=store.rollouts,
        turns=store.turns,
        channels=store.channels,
        promotion=promotion_on(store, artefacts, shelf),
        catalog=shipped(),
        pools={"pool": default_pool("hgx-h100-8gpu")},
    )
    return service, files


def promotion_on(store: Store, artefacts: ArtefactStore, shelf: ReleaseShelf) -> PromotionWorld:
    """What promotions are decided by: no keys, and the channels as they come."""
    return PromotionWorld(
        promotions=store.promotions,
        channels=store.channels,
        soaks=store.soaks,
        releases=store.release_records,
        statements=StatementShelf(artefacts, None),
        stops=store.rollouts,
        policies=DEFAULTS,
        compatibility=load_facts(),
        images=shelf,
    )


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


@cache
def shipped() -> Catalog:
    """The profiles of this repository."""
    return load_catalog(PROFILES)
