"""No power, no reset and no boot while firmware is being written: a board can die of it."""

from datetime import timedelta

from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.world import World
from provisioner.errors import NeedsPerson
from provisioner.firmware.phase import may_be_flashing
from provisioner.firmware.task import flashes
from provisioner.models.identifiers import RunKey
from provisioner.models.instruction import Instruction, Owner
from provisioner.operations.reach import bmc_of, tell, until

_LOOK_EVERY = timedelta(seconds=10)
_LIMIT = timedelta(hours=2)


async def await_no_flash(world: World, key: RunKey) -> None:
    """Wait until nothing is being written on this node, whoever began it. Raises `NeedsPerson` after two hours.

    That is: the BMC lists no update at work, no device copies its image to its other slot, and none of our own
    updates may still be at work although the BMC has forgotten its task.
    """
    busy: tuple[str, ...] = ()

    async def idle() -> bool:
        nonlocal busy
        async with bmc_of(world, key.node) as bmc:
            busy = await writing(world, key, bmc)
        if busy:
            await tell(world, key, f"no reset and no power before this is over: {busy[0]}")
        return not busy

    if not await until(world.clock, idle, every=_LOOK_EVERY, limit=_LIMIT):
        raise await _held(world, key, busy)


async def writing(world: World, key: RunKey, bmc: Bmc) -> tuple[str, ...]:
    """What writes firmware now, or may do so; for people."""
    tasks = [f"update {task.name or task.uri!r} ({task.uri})" for task in await bmc.tasks() if flashes(task)]
    copies = [f"{part.id} copies its firmware to its second slot" for part in await bmc.firmware() if part.copying]
    unseen = may_be_flashing(await world.journal.open(key.node), world.clock.now())
    return (*tasks, *copies, *(f"{entry.name} {entry.what.version} may still be at work" for entry in unseen))


async def _held(world: World, key: RunKey, busy: tuple[str, ...]) -> NeedsPerson:
    node = await world.nodes.get(key.node)
    return NeedsPerson(
        f"firmware has been written for two hours, and no reset goes out under it: {'; '.join(busy)}",
        Instruction(
            owner=Owner.OPERATOR,
            where=node.place,
            what="look at the BMC's task list and find out who began this; let it end, or end it there; do not switch "
            f"the server off meanwhile; then: firstlight node release {node.name}",
            done_when="the BMC lists no update at work and no copy to a second slot",
        ),
    )
