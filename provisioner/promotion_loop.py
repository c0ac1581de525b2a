"""Keeps promotions going and counts soaks. Any number of workers may do so at once: what two see, one keeps."""

import asyncio

import structlog

from provisioner.capabilities.promotion_world import PromotionWorld
from provisioner.capabilities.world import World
from provisioner.services.promoting import go_on, sign_decisions
from provisioner.services.soaking import SoakWatch

_log = structlog.get_logger(__name__)


async def keep_promotions(world: World, office: PromotionWorld, period: float) -> None:
    """Until cancelled. `period`: real seconds between looks; one that fails is logged."""
    while True:
        try:
            await look(world, office)
        except Exception:  # noqa: BLE001  the outermost handler of the loop
            _log.exception("promotions_not_looked_at")
        await asyncio.sleep(period)


async def keep_counting(world: World, office: PromotionWorld, period: float) -> None:
    """Count soaks until cancelled; `period`: real seconds."""
    watch = SoakWatch(world, office)
    while True:
        try:
            await watch.count()
        except Exception:  # noqa: BLE001  the outermost handler of the loop
            _log.exception("soaks_not_counted")
        await asyncio.sleep(period)


async def look(world: World, office: PromotionWorld) -> None:
    """Once at every promotion that goes on, and at those that nobody has signed for."""
    names = await office.promotions.unended()
    nodes = await world.nodes.all() if names else ()
    for name in names:
        try:
            await go_on(world, office, name, nodes)
        except Exception:  # noqa: BLE001  one promotion's trouble is not the others'
            _log.exception("promotion_not_looked_at", promotion=name)
    await sign_decisions(world, office)
