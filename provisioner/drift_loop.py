"""Watches for drift all the time. Of several workers, one makes each pass."""

import asyncio

import structlog

from provisioner.capabilities.drift import Drift
from provisioner.capabilities.world import World
from provisioner.services.drift import Rate, watch_once

_log = structlog.get_logger(__name__)


async def keep_watching(world: World, records: Drift, rate: Rate) -> None:
    """Until cancelled. A pass that fails is logged, and the next one looks again."""
    seconds = rate.passes.total_seconds()
    while True:
        await asyncio.sleep(seconds)
        try:
            if await records.claim(world.clock.now(), rate.passes * 0.9):
                await watch_once(world, records, rate)
        except Exception:  # noqa: BLE001  the outermost handler of the loop
            _log.exception("drift_watch_failed")
