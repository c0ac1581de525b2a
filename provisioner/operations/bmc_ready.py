"""When a BMC that has started may be believed: twice, with time between."""

import asyncio
from datetime import timedelta

from provisioner.capabilities.world import World
from provisioner.errors import NotAchieved
from provisioner.models.identifiers import RunKey
from provisioner.operations.reach import bmc_of, tell, until

_LOOK_EVERY = timedelta(seconds=10)
_SETTLE = timedelta(seconds=45)
"""Lenovo's XCC shows its inventory 40 s after it answers again (fwupd#4531)."""
_LIMIT = timedelta(minutes=15)


async def await_bmc(world: World, key: RunKey) -> None:
    """Until its root, managers, update service and whole inventory answer, twice, with a settle gap between.

    Raises `NotAchieved` after a quarter of an hour in which it answers and is not complete, `BmcUnreachable` after the
    usual time without an answer.
    """
    await tell(world, key, "waiting for the BMC to be complete again")
    time = asyncio.get_running_loop().time
    first: float | None = None

    async def twice() -> bool:
        nonlocal first
        async with bmc_of(world, key.node) as bmc:
            complete = await bmc.ready()
        if not complete:
            first = None
        elif first is None:
            first = time()
        return first is not None and time() - first >= world.clock.wall(_SETTLE)

    if not await until(world.clock, twice, every=_LOOK_EVERY, limit=_LIMIT):
        node = await world.nodes.get(key.node)
        raise NotAchieved(str(node.bmc), "answers, and its inventory or its services are not complete after 15 minutes")
