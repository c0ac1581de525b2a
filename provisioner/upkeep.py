"""What is thrown away, every now and then."""

import asyncio
from datetime import UTC, datetime, timedelta

import structlog

from provisioner.engine import DbosEngine
from provisioner.store.opening import Store
from provisioner.store.retention import delete_events

_log = structlog.get_logger(__name__)

_EVENTS_KEPT = timedelta(days=400)
_RUNS_KEPT = timedelta(days=30)
"""The steps of a run, for support; its outcome is in the events."""


async def upkeep(store: Store, engine: DbosEngine, every: timedelta) -> None:
    """Until cancelled."""
    while True:
        await asyncio.sleep(every.total_seconds())
        now = datetime.now(UTC)
        events = await delete_events(store.database, now - _EVENTS_KEPT)
        runs = await engine.forget(now - _RUNS_KEPT)
        _log.info("old_records_deleted", events=events, runs=runs)
