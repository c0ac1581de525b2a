"""Keeps campaigns going. Any number of workers may do so at once: one has a campaign's lease at a time."""

import asyncio
import secrets
from datetime import timedelta

import structlog

from provisioner.capabilities.campaigns import Campaigns
from provisioner.capabilities.world import World
from provisioner.services.campaigning import go_on

_log = structlog.get_logger(__name__)

_LEASE = timedelta(seconds=30)
"""Real time; a dead worker's campaign waits so long. What two that hold it by mistake do, they do once."""

_STEPS = 20
"""One campaign after the other, also where one changes all the time."""


async def keep_campaigns(world: World, campaigns: Campaigns, period: float) -> None:
    """Until cancelled. `period`: real seconds between looks; one that fails is logged."""
    holder = secrets.token_hex(8)
    while True:
        try:
            await look(world, campaigns, holder)
        except Exception:  # noqa: BLE001  the outermost handler of the loop
            _log.exception("campaigns_not_looked_at")
        await asyncio.sleep(period)


async def look(world: World, campaigns: Campaigns, holder: str) -> None:
    """Once at every campaign that has not ended and whose lease can be had."""
    for name in await campaigns.unended():
        now = world.clock.now()
        if not await campaigns.claim(name, holder, now, now + _LEASE):
            continue
        try:
            await _steps(world, campaigns, name)
        except Exception:  # noqa: BLE001  one campaign's trouble is not the others'
            _log.exception("campaign_not_stepped", campaign=name)


async def _steps(world: World, campaigns: Campaigns, name: str) -> None:
    for _ in range(_STEPS):
        if not await go_on(world, campaigns, name):
            return
