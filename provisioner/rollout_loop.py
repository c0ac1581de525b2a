"""Keeps rollouts going. Any number of workers may do so at once: one has a rollout's lease at a time."""

import asyncio
import secrets
from datetime import timedelta
from functools import partial

import structlog

from provisioner.capabilities.clock import Clock
from provisioner.capabilities.rollouts import Rollouts
from provisioner.services.following import Follower
from provisioner.services.rolling import Controller

_log = structlog.get_logger(__name__)

_LEASE = timedelta(seconds=30)
"""Real time; a dead worker's rollout waits so long. Who was only slow finds its epoch over."""

_STEPS = 20
"""One rollout after the other, also where one changes all the time."""


async def keep_rollouts(
    clock: Clock, rollouts: Rollouts, controller: Controller, follower: Follower, period: float
) -> None:
    """Until cancelled. `period`: real seconds between looks; one that fails is logged."""
    holder = secrets.token_hex(8)
    while True:
        for job in (follower.look, partial(look, clock, rollouts, controller, holder), controller.tidy):
            try:
                await job()
            except Exception:  # noqa: BLE001  the outermost handler of the loop
                _log.exception("rollouts_not_looked_at")
        await asyncio.sleep(period)


async def look(clock: Clock, rollouts: Rollouts, controller: Controller, holder: str) -> None:
    """Once at every rollout that is not closed and whose lease can be had."""
    for one in await rollouts.unended():
        try:
            await _steps(clock, rollouts, controller, one.name, holder)
        except Exception:  # noqa: BLE001  one rollout's trouble is not the others'
            _log.exception("rollout_not_stepped", rollout=one.name)


async def _steps(clock: Clock, rollouts: Rollouts, controller: Controller, name: str, holder: str) -> None:
    for _ in range(_STEPS):
        now = clock.now()
        epoch = await rollouts.claim(name, holder, now, now + _LEASE)
        if epoch is None or not await controller.go_on(name, epoch):
            return
