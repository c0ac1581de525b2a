"""How operations reach a node's BMC, wait for what they asked for, and tell people what goes on."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from profiles.release import Release
from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.clock import Clock
from provisioner.capabilities.world import World
from provisioner.errors import BmcUnreachable, LoginRefused, NeedsPerson
from provisioner.models.identifiers import NodeName, ReleaseDigest, RunKey
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.operation import Progress

OUTAGE = timedelta(minutes=10)
"""A BMC may be away this long while something goes on, such as its own reset (5 to 10 minutes in the field)."""

_AFTER_REFUSAL = timedelta(minutes=3)


@asynccontextmanager
async def bmc_of(world: World, name: NodeName) -> AsyncIterator[Bmc]:
    """The node's BMC, with the credentials that work now, under its lease."""
    node = await world.nodes.get(name)
    credentials = await world.vault.current(name)
    if credentials is None:
        raise NeedsPerson(
            "no password is known for its BMC",
            Instruction(
                owner=Owner.TECHNICIAN,
                where=node.place,
                what=f"read the BMC password on the pull-out label and enter it: firstlight node password {name}",
                done_when="the BMC accepts it; Firstlight tries it at once",
            ),
        )
    async with world.bmcs.open(node.bmc, credentials) as bmc:
        yield bmc


async def release_of(world: World, name: NodeName) -> Release:
    """The release that the node should run. Raises `NotFound` when none is assigned."""
    node = await world.nodes.get(name)
    return await world.documents.release(node.release or ReleaseDigest(""))


async def tell(world: World, key: RunKey, doing: str, percent: float | None = None) -> None:
    """Say what the node is doing right now."""
    await world.documents.put_progress(Progress(key.node, key.operation, doing, percent, world.clock.now()))


async def until(clock: Clock, check: Callable[[], Awaitable[bool]], *, every: timedelta, limit: timedelta) -> bool:
    """Look `every` so often until `check` says so; False after `limit`.

    A BMC that does not answer is no answer: it may be away for `OUTAGE`, then its `BmcUnreachable` is raised. While it
    is away, the device cannot show what it has reached, so that time does not count. One that has just started refuses
    a good login for a while (sonic-net/sonic-platform-common#707): that is forgiven once, after a pause that spends
    none of the few logins which an account has.
    """
    time = asyncio.get_running_loop().time
    start = answered = time()
    silent = 0.0
    forgiven = False
    while True:
        try:
            if await check():
                return True
            start += silent
            silent, answered = 0.0, time()
        except BmcUnreachable:
            silent = time() - answered
            if silent > clock.limit(OUTAGE):
                raise
        except LoginRefused:
            if forgiven:
                raise
            forgiven, silent = True, time() - answered
            await asyncio.sleep(clock.wall(_AFTER_REFUSAL))
        if time() - start - silent > clock.limit(limit):
            return False
        await asyncio.sleep(clock.wall(every))
