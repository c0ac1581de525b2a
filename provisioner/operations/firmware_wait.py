"""Waiting for the end of an update that was sent: as long as it gets on, and not by what its task says alone."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.world import World
from provisioner.errors import ResourceGone
from provisioner.firmware.phase import IN_FLIGHT, Change, Entry, Phase
from provisioner.firmware.task import (
    TaskVerdict,
    Watch,
    flashes,
    has_stalled,
    judge_task,
    may_run_for,
    waits_for_reset,
    watched,
)
from provisioner.models.identifiers import RunKey, TaskUri
from provisioner.models.inventory import Task
from provisioner.operations.firmware_look import LOOK_EVERY, Look, open_entries, see
from provisioner.operations.firmware_people import stalled
from provisioner.operations.firmware_pulls import fetched_words, server_to_reach
from provisioner.operations.firmware_send import attach
from provisioner.operations.reach import bmc_of, tell, until

_UNCHANGED = timedelta(minutes=30)
"""With the same percentage for so long, nobody knows what goes on: BMC images have taken 14 minutes at one figure."""
_UNSAID = timedelta(minutes=60)
"""The same where a task gives no percentage."""
_SCHEDULED = timedelta(minutes=5)
"""A task that waits so long in Pending waits for a reset (dell/iDRAC-Redfish-Scripting#32)."""
_FOR_EVER = timedelta(days=2)


async def await_update(world: World, key: RunKey, components: Sequence[str]) -> None:
    """Until the task has ended, or waits for a reset, or the new version shows, or an unseen one must have ended.

    There is no limit in all, only one without progress. What becomes of it is written into the journal: `staged`,
    `failed`, or `unknown`. Raises `NeedsPerson` where an update has stalled and may be at work all the same.
    """
    watch: Watch | None = None
    time = asyncio.get_running_loop().time

    async def ended() -> bool:
        nonlocal watch
        group = [one for one in await open_entries(world, key, components) if one.phase in IN_FLIGHT]
        if not group:
            return True
        async with bmc_of(world, key.node) as bmc:
            uri = next((one.task for one in group if one.task is not None), None)
            task = await _look(bmc, uri) if uri is not None else None
            if task is None:
                return await _unseen(world, key, bmc, group)
            watch = watched(watch, task, time())
            if await _has_ended(world, bmc, group, task, waited=time() - watch.since):
                return True
            await tell(world, key, f"flashing {' and '.join(one.name for one in group)}", task.percent)
            limits = {"unchanged": world.clock.limit(_UNCHANGED), "unsaid": world.clock.limit(_UNSAID)}
            if not has_stalled(watch, time(), **limits):
                return False
            await _stalled(world, key, bmc, group, task)
            return True

    await until(world.clock, ended, every=LOOK_EVERY, limit=_FOR_EVER)


async def _look(bmc: Bmc, task: TaskUri) -> Task | None:
    try:
        return await bmc.task(task)
    except ResourceGone:
        return None


async def _has_ended(world: World, bmc: Bmc, group: Sequence[Entry], task: Task, *, waited: float) -> bool:
    verdict, now = judge_task(task), world.clock.now()
    if verdict is TaskVerdict.FAILED:
        said = "; ".join(task.messages) or task.status or "no message"
        said = f"its task ended as {task.state} ({task.status or 'no status'}): {said}"
        said += fetched_words(world, bmc.address, group[0])
        await world.journal.move(group, Change(Phase.FAILED, now, said, seen=True))
        return True
    if verdict is TaskVerdict.JUDGE_BY_VERSION:
        await world.journal.move(group, Change(Phase.STAGED, now, f"its task says {task.state}", seen=True))
        return True
    if waits_for_reset(task) and waited > world.clock.wall(_SCHEDULED):
        await world.journal.move(group, Change(Phase.STAGED, now, "its task waits for a reset of the host", seen=True))
        return True
    return False


async def _unseen(world: World, key: RunKey, bmc: Bmc, group: Sequence[Entry]) -> bool:
    """Without a task to look at: one may show late; else the new version shows, or its time is over.

    ironcore-dev/metal-operator#617, ibm-openbmc/dev#2522: BMCs forget tasks that went on or succeeded.
    """
    look = await see(world, key, bmc)
    update = look.update_of(group)
    targets = (update.targets or update.parts) if update else ()
    if all(one.task is None for one in group) and await attach(world, bmc, group, targets):
        return False
    if update is not None and any(may_run_for(task, targets) and flashes(task) for task in await bmc.tasks()):
        return False
    now = world.clock.now()
    if _shows(look, group):
        await world.journal.move(group, Change(Phase.STAGED, now, "the inventory shows the new version", seen=True))
        return True
    if any(one.live_until is not None and now < one.live_until for one in group):
        return False
    sent = [one for one in group if one.phase is Phase.UPLOADED]
    why = "the BMC knows its task no more, and its time is over: the running version decides"
    why += fetched_words(world, bmc.address, group[0])
    await world.journal.move(sent, Change(Phase.UNKNOWN, now, why))
    return True


def _shows(look: Look, group: Sequence[Entry]) -> bool:
    return all(look.proof(one).runs for one in group)


async def _stalled(world: World, key: RunKey, bmc: Bmc, group: Sequence[Entry], task: Task) -> None:
    """Unknown, then what the device says (fwupd#7593): the new version, or nothing that may be touched."""
    figure = "no percentage" if task.percent is None else f"{task.percent} % all the time"
    why = f"its task {task.uri} is {task.state} and has shown no progress ({figure})"
    why += fetched_words(world, bmc.address, group[0])
    sent = [one for one in group if one.phase is Phase.UPLOADED]
    unknown = await world.journal.move(sent, Change(Phase.UNKNOWN, world.clock.now(), why))
    group = [*unknown, *(one for one in group if one.phase is Phase.UNKNOWN)]
    if _shows(await see(world, key, bmc), group):
        seen = Change(Phase.STAGED, world.clock.now(), f"the inventory shows the new version, though {why}", seen=True)
        await world.journal.move(group, seen)
        return
    names = " and ".join(one.name for one in group)
    raise stalled(await world.nodes.get(key.node), names, task.uri, why, server_to_reach(world, group))
