"""Power, read first, asked for, read back. All that takes power or a BMC away goes through here: the interlock."""

from collections.abc import Sequence
from datetime import timedelta

from profiles.firmware.component import Activation
from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.world import World
from provisioner.errors import AnswerLost, NotAchieved
from provisioner.models.identifiers import RunKey
from provisioner.models.inventory import Power
from provisioner.operations.interlock import await_no_flash
from provisioner.operations.reach import bmc_of, tell, until

_LOOK_EVERY = timedelta(seconds=5)
_POWER_LIMIT = timedelta(minutes=5)
_LOST_LIMIT = timedelta(minutes=2)
_ASKS = 3
_POST_LIMIT = timedelta(minutes=30)
"""8-GPU servers with 2 TiB of memory train it for 10 to 15 minutes after a BIOS change."""
_ON_THE_WAY = {Power.ON: Power.POWERING_ON, Power.OFF: Power.POWERING_OFF}


async def power_off(world: World, key: RunKey) -> None:
    """Off, but never under a flash or the copy after one."""
    await await_no_flash(world, key)
    await tell(world, key, "switching the host off")
    await _bring(world, key, Power.OFF, "ForceOff")


async def power_on(world: World, key: RunKey) -> None:
    """On, but never under a flash: firmware would start that is half written. POST has begun then, not ended."""
    await await_no_flash(world, key)
    await tell(world, key, "switching the host on")
    await _bring(world, key, Power.ON, "On")


async def ask_bmc_reset(world: World, key: RunKey) -> bool:
    """Manager.Reset, asked once, never under a flash. False when nobody knows whether it was acted on."""
    await await_no_flash(world, key)
    async with bmc_of(world, key.node) as bmc:
        try:
            await bmc.reset_bmc()
        except AnswerLost:
            return False
    return True


async def ask_cycle(world: World, key: RunKey, activation: Activation) -> None:
    """Standby power or the mains off and on, by the BMC's own verb, asked once, never under a flash.

    An answer that never comes is what this looks like when it works. Raises `BmcRefused` where there is no verb.
    """
    await await_no_flash(world, key)
    async with bmc_of(world, key.node) as bmc:
        try:
            await bmc.cycle(activation)
        except AnswerLost:
            return


async def ask_cycles(world: World, key: RunKey, verbs: Sequence[str]) -> None:
    """Each of these verbs of the BMC once, one after the other, never under a flash.

    After an answer that never comes the BMC may be away: it has to be back before the next one is asked for.
    """
    for verb in verbs:
        await await_no_flash(world, key)
        async with bmc_of(world, key.node) as bmc:
            try:
                await bmc.cycle_by(verb)
            except AnswerLost:
                continue


async def await_post(world: World, key: RunKey) -> None:
    """Wait until the host has left POST. Raises `NotAchieved` after half an hour."""
    await tell(world, key, "waiting for the host to finish its self-test")

    async def done() -> bool:
        async with bmc_of(world, key.node) as bmc:
            return await bmc.post_done()

    if not await until(world.clock, done, every=_LOOK_EVERY, limit=_POST_LIMIT):
        node = await world.nodes.get(key.node)
        raise NotAchieved(str(node.bmc), "the host has not finished its self-test after 30 minutes")


async def _bring(world: World, key: RunKey, wanted: Power, reset_type: str) -> None:
    """Ask, and again only when the answer was lost and the state has not changed for a while: `On` and `ForceOff` name
    a state, so the second does no harm where the first has arrived after all.
    """

    async def reached() -> bool:
        async with bmc_of(world, key.node) as bmc:
            return await bmc.power() is wanted

    for _ in range(_ASKS):
        async with bmc_of(world, key.node) as bmc:
            seen = await bmc.power()
            if seen is wanted:
                return
            answered = seen is _ON_THE_WAY[wanted] or await _ask(bmc, reset_type)
        limit = _POWER_LIMIT if answered else _LOST_LIMIT
        if await until(world.clock, reached, every=_LOOK_EVERY, limit=limit):
            return
        if answered:
            break
    raise NotAchieved(str(bmc.address), f"asked for {reset_type}, and the power state is still not {wanted}")


async def _ask(bmc: Bmc, reset_type: str) -> bool:
    """False when nobody knows whether it was acted on."""
    try:
        await bmc.reset(reset_type)
    except AnswerLost:
        return False
    return True
