"""Puts one running site together. The only module that knows every concrete class."""

import fcntl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from images.boot_program.signing import SigningPair
from profiles.catalog import Catalog
from profiles.findings import ProfileError, did_you_mean
from profiles.firmware.component import Artefact
from profiles.loader import SHIPPED, load_catalog
from provisioner.boot_programs import BootSettings
from provisioner.capabilities.bmcs import Bmcs
from provisioner.capabilities.service import Service
from provisioner.capabilities.world import World
from provisioner.clock import PacedClock, Wakefulness
from provisioner.discovery.expected import Expected, read_expected
from provisioner.engine import DbosEngine, EngineSettings
from provisioner.errors import BadInput
from provisioner.leases.bmc_leases import BmcLeases
from provisioner.leases.limits import LeaseSettings
from provisioner.leases.no_logins import NoLogins
from provisioner.leases.slot_lease import SlotLease
from provisioner.network_boot.dnsmasq import Place
from provisioner.operations.registry import OPERATIONS
from provisioner.pool_settings import PoolSettings, default_pool
from provisioner.promoting_site import keys_of, promotion_world
from provisioner.pulls import Pulls
from provisioner.pulse import Pulse
from provisioner.reconciler.loop import Reconciler
from provisioner.redfish.bmcs import RedfishBmcs, RedfishSettings
from provisioner.redfish.tls import TlsMode, TlsPolicy
from provisioner.release_shelf import ReleaseShelf, check_chosen
from provisioner.secrets.fernet_cipher import open_cipher
from provisioner.settings import Environment, Site, TlsChoice
from provisioner.store.opening import Store, open_store
from provisioner.upload_limit import UploadLimit

_TLS = {TlsChoice.PIN: TlsMode.PIN, TlsChoice.CA: TlsMode.CA, TlsChoice.OFF: TlsMode.UNCHECKED}


@dataclass(frozen=True, slots=True)
class Checked:
    """Everything that people wrote, read and found good before anything starts."""

    site: Site
    catalog: Catalog
    expected: tuple[Expected, ...]
    file: Path | None = None
    """Where the site was read; None: from nowhere, as in a demo."""


@dataclass(frozen=True, slots=True)
class Running:
    """One running site."""

    site: Site
    service: Service
    store: Store
    engine: DbosEngine
    reconciler: Reconciler
    bmcs: RedfishBmcs
    awake: Wakefulness
    slot: SlotLease | None
    missing_packages: tuple[Artefact, ...]
    file: Path | None
    """As in `Checked`."""

    @property
    def slots(self) -> frozenset[str]:
        """The names of all workers that there may be."""
        return frozenset(f"slot-{number}" for number in range(int(self.site.limits.workers)))


def check(site: Site, file: Path | None = None) -> Checked:
    """Read all input files; `site` is what `file` says.

    Raises `BadInput` with everything that is wrong with the first kind that is.
    """
    try:
        catalog = load_catalog(site.profiles or SHIPPED)
        expected = read_expected(site.expected) if site.expected else ()
    except ProfileError as error:
        raise BadInput(str(error)) from error
    check_chosen(catalog, site.releases, site.data_dir, _boot_settings(site))
    _check_pools(site, catalog)
    keys_of(site)
    return Checked(site, catalog, expected, file)


def pools_of(site: Site, catalog: Catalog) -> Mapping[str, PoolSettings]:
    """Those of the site; each hardware class is one where it names none."""
    return site.pools or {name: default_pool(name) for name in catalog.hardware_classes}


def _check_pools(site: Site, catalog: Catalog) -> None:
    """Raises `BadInput` with every pool that cannot be."""
    unknown = [
        f"pools.{name}.hardware_class: there is no hardware class {pool.hardware_class}; "
        f"{did_you_mean(pool.hardware_class, catalog.hardware_classes)}"
        for name, pool in site.pools.items()
        if pool.hardware_class not in catalog.hardware_classes
    ]
    if unknown:
        raise BadInput("\n".join(unknown))


def dhcp_place(site: Site) -> Place:
    """Where our DHCP server keeps its files, and what it tells nodes."""
    return Place(site.name, site.url, site.data_dir.absolute() / "dhcp")


@asynccontextmanager
async def looking(site: Site) -> AsyncIterator[Bmcs]:
    """The way to BMCs for who only looks at them: it cannot log in, and needs neither store nor keys."""
    nothing, clock = NoLogins(), PacedClock(float(site.speed))
    bmcs = RedfishBmcs(BmcLeases(nothing, clock), nothing, clock)
    try:
        yield bmcs
    finally:
        await bmcs.close()


@asynccontextmanager
async def running(checked: Checked, environment: Environment) -> AsyncIterator[Running]:
    """Open the store, take a slot, start the engine, and take in the expected list. Raises `BadInput`."""
    site = checked.site
    site.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(site):
        pulse = Pulse()
        cipher = open_cipher(environment.key_file or site.data_dir / "secret.key")
        store = open_store(site.database, cipher, pulse.beat)
        try:
            async with _running(checked, store, pulse) as live:
                yield live
        finally:
            store.close()


@asynccontextmanager
async def _running(checked: Checked, store: Store, pulse: Pulse) -> AsyncIterator[Running]:
    site, clock = checked.site, PacedClock(float(checked.site.speed))
    shelf = ReleaseShelf(
        checked.catalog, site.releases, site.data_dir, _boot_settings(site), firmware_dir=site.firmware_dir
    )
    missing = shelf.stock()
    uploads = _upload_limit(site)
    bmcs = _bmcs(site, store, clock, uploads)
    awake = Wakefulness()
    world = _world(store, bmcs, clock=clock, shelf=shelf, awake=awake, public_url=site.url)
    world = replace(world, pulls=Pulls(alone=not _shared(site)))
    slot = SlotLease(site.database, int(site.limits.workers)) if _shared(site) else None
    engine = DbosEngine(await _engine_settings(site, clock, slot), clock)
    reconciler = Reconciler(world, engine, period=max(1.0, clock.wall(timedelta(seconds=5))), pace=clock.pace)
    service = _service(checked, store, world, engine=engine, shelf=shelf, pulse=pulse, uploads=uploads)
    try:
        await engine.launch(world, OPERATIONS)
        await _take_in(checked.expected, store, world)
        await store.tokens.ensure_admin(site.data_dir / "admin-token")
        (site.data_dir / "endpoint").write_text(f"{site.url}\n", encoding="utf-8")
        pulse.call(reconciler.wake)
        yield Running(site, service, store, engine, reconciler, bmcs, awake, slot, missing, checked.file)
    finally:
        await engine.close()
        await bmcs.close()
        if slot is not None:
            await slot.close()


def _service(
    checked: Checked,
    store: Store,
    world: World,
    *,
    engine: DbosEngine,
    shelf: ReleaseShelf,
    pulse: Pulse,
    uploads: UploadLimit,
) -> Service:
    site = checked.site
    return Service(
        site=site.name,
        world=world,
        runs=engine,
        tokens=store.tokens,
        claims=store.claims,
        operations=store.operations,
        webhooks=store.webhooks,
        changes=pulse,
        found=store.found_bmcs,
        campaigns=store.campaigns,
        drift=store.drift,
        rollouts=store.rollouts,
        turns=store.turns,
        channels=store.channels,
        pools=pools_of(site, checked.catalog),
        audit=store.audit,
        promotion=promotion_world(site, store, shelf),
        catalog=checked.catalog,
        profiles=site.profiles or SHIPPED,
        downloads=int(site.limits.downloads),
        requests_per_second=int(site.limits.requests_per_token),
        uploads=uploads,
        packages=frozenset(_package_digests(checked.catalog)),
    )


def _package_digests(catalog: Catalog) -> Iterator[str]:
    for bundle in catalog.firmware_bundles.values():
        for component in bundle.components:
            for artefact in (component.artefact, *(release.artefact for release in component.releases)):
                yield f"sha256:{artefact.sha256}"


def _upload_limit(site: Site) -> UploadLimit:
    """This process's share of the site's limit: nobody knows how many of the workers run, so it is the smallest."""
    limit = site.limits.upload_bytes_per_second
    return UploadLimit(None if limit is None else limit / (int(site.limits.workers) if _shared(site) else 1))


def _boot_settings(site: Site) -> BootSettings:
    boot = site.network_boot
    signing = SigningPair(boot.sign.key, boot.sign.certificate) if boot.sign else None
    ipxe, stub = ({arch.value: path for arch, path in files.items()} for files in (boot.ipxe, boot.stub))
    return BootSettings(site.url, boot.mirrors, ipxe, stub, signing)


def _bmcs(site: Site, store: Store, clock: PacedClock, uploads: UploadLimit) -> RedfishBmcs:
    limits = LeaseSettings(
        requests_per_bmc=int(site.limits.requests_per_bmc), requests_per_site=int(site.limits.requests_per_site)
    )
    leases = BmcLeases(store.logins, clock, shared=store.leases if _shared(site) else None, settings=limits)
    policy = TlsPolicy(_TLS[site.tls.policy], site.tls.ca_file)
    return RedfishBmcs(leases, store.certificates, clock, settings=RedfishSettings(tls=policy), uploads=uploads)


def _world(
    store: Store, bmcs: RedfishBmcs, *, clock: PacedClock, shelf: ReleaseShelf, awake: Wakefulness, public_url: str
) -> World:
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
        releases=shelf,
        artefacts=shelf,
        public_url=public_url,
        awake=awake,
    )


async def _engine_settings(site: Site, clock: PacedClock, slot: SlotLease | None) -> EngineSettings:
    return EngineSettings(
        url=site.engine_database,
        slot=await slot.acquire() if slot else "slot-0",
        per_rack=int(site.limits.per_rack),
        poll=timedelta(seconds=min(1.0, clock.wall(timedelta(seconds=10)))),
    )


async def _take_in(expected: tuple[Expected, ...], store: Store, world: World) -> None:
    await store.nodes.expect([one.node for one in expected], world.clock.now())
    for one in expected:
        if one.credentials is not None and one.keep_password:
            await store.vault.put_kept(one.node.name, one.credentials)
        elif one.credentials is not None:
            await store.vault.put_factory(one.node.name, one.credentials)


def _shared(site: Site) -> bool:
    return site.database_url is not None and site.database_url.startswith("postgres")


@contextmanager
def _alone(site: Site) -> Iterator[None]:
    """On SQLite one process has the data directory to itself. Raises `BadInput` when another one has it."""
    if _shared(site):
        yield
        return
    with (site.data_dir / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BadInput(f"{site.data_dir}: another firstlight is running on this data directory") from error
        yield
