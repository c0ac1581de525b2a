"""What keeps a long-running site going: stuck runs are given back to work, old records are thrown away."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

import structlog

from profiles.firmware.component import Artefact
from provisioner.capabilities.releases import Artefacts
from provisioner.engine import DbosEngine
from provisioner.errors import NotFound
from provisioner.store.long_operations import forget_operations
from provisioner.store.opening import Store
from provisioner.store.retention import delete_events

_log = structlog.get_logger(__name__)

_EVENTS_KEPT = timedelta(days=400)
_RUNS_KEPT = timedelta(days=30)
"""The steps of a run, for support; its outcome is in the events."""

_HOSTS_KEPT = timedelta(days=30)
_UPDATES_KEPT = timedelta(days=400)
"""Finished firmware updates; what is open is never thrown away."""

_CLAIMS_KEPT = timedelta(hours=48)
"""Answers to requests with an Idempotency-Key: whoever tries again does so within a day."""

_OPERATIONS_KEPT = timedelta(days=30)
"""Those that have ended."""

_STUCK_AFTER = timedelta(minutes=2)
_LOOK_SECONDS = 30.0
_ASK_AGAIN_SECONDS = 60.0
_CLEAN_EVERY = 20
"""Looks between two clean-ups: ten minutes."""


async def upkeep(store: Store, engine: DbosEngine, slots: Collection[str]) -> None:
    """Until cancelled. `slots`: the names of all workers that there may be."""
    looks = 0
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        for run in await engine.rescue(slots, _STUCK_AFTER):
            _log.warning("stuck_run_resumed", run=run)
        looks += 1
        if looks % _CLEAN_EVERY == 0:
            await _clean(store, engine)


async def bring_packages(artefacts: Artefacts, missing: Sequence[Artefact]) -> None:
    """Fetch the packages that this host lacks, and ask again for those that nobody gives; ends when all are here."""
    if missing:
        where = (
            "asked for at public_url and network_boot.mirrors; or share firmware_dir, or data_dir, among the workers"
        )
        _log.warning("packages_missing", files=[one.file for one in missing], remedy=where)
    told: set[str] = set()
    while missing:
        left: list[Artefact] = []
        for one in missing:
            try:
                await artefacts.obtain(one)
                _log.info("package_fetched", file=one.file)
            except NotFound as error:
                left.append(one)
                if str(error) not in told:
                    _log.warning("package_not_fetched", reason=str(error))
                told.add(str(error))
        missing = left
        if missing:
            await asyncio.sleep(_ASK_AGAIN_SECONDS)


async def _clean(store: Store, engine: DbosEngine) -> None:
    now = datetime.now(UTC)
    events = await delete_events(store.database, now - _EVENTS_KEPT)
    await store.hosts.forget(now - _HOSTS_KEPT)
    await store.journal.forget(now - _UPDATES_KEPT)
    await store.claims.forget(now - _CLAIMS_KEPT)
    await forget_operations(store.database, now - _OPERATIONS_KEPT)
    runs = await engine.forget(now - _RUNS_KEPT)
    _log.info("old_records_deleted", events=events, runs=runs)
