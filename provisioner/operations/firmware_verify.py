"""After a stage: only what every part reports is believed."""

from collections.abc import Sequence
from datetime import timedelta

from profiles.firmware.component import Activation
from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.world import World
from provisioner.errors import NotAchieved, ResourceGone
from provisioner.firmware.phase import Change, Entry, Phase
from provisioner.firmware.task import flashes
from provisioner.models.identifiers import RunKey
from provisioner.operations.conclude import TRIES
from provisioner.operations.firmware_look import LOOK_EVERY, Look, open_entries, see
from provisioner.operations.firmware_people import keeps_failing
from provisioner.operations.firmware_pulls import fetched_words, server_to_reach
from provisioner.operations.firmware_send import REFUSED
from provisioner.operations.firmware_step_up import ask_person, next_verbs
from provisioner.operations.reach import bmc_of, tell, until

_SETTLE_LIMIT = timedelta(minutes=10)
"""Inventories show a new version up to minutes after the reset that activates it."""
_POST_FLASH_LIMIT = timedelta(hours=2)
_JUDGED = frozenset({Phase.STAGED, Phase.ACTIVATING, Phase.VERIFYING, Phase.UNKNOWN})


async def verify_stage(world: World, key: RunKey, components: Sequence[str], done: Sequence[str] = ()) -> list[str]:
    """Judge every entry of these classes by the running versions, and close it. `done`: what was activated by.

    Verbs of the BMC are left to try where a part runs the old version after that: then what is left stays open.
    Raises `NotAchieved` naming what does not run, so that it alone is tried again; `NeedsPerson` after the last try,
    or where the BMC has refused it.
    """
    await tell(world, key, "checking the running versions")
    await _await_jobs(world, key, components)
    entries = await _verifying(world, key, components)
    look = await _settled(world, key, entries)
    node = await world.nodes.get(key.node)
    for entry in (one for one in entries if look.proof(one).runs):
        await _judge(world, look, entry, "")
    left = [one for one in entries if not look.proof(one).runs]
    verbs = await next_verbs(world, key, look, left, [Activation(one) for one in done])
    if verbs:
        return verbs
    await ask_person(world, key, look, [one for one in left if one.phase is Phase.VERIFYING])
    for entry in left:
        await _judge(world, look, entry, fetched_words(world, node.bmc, entry))
    failures = await _failures(world, key, components, look)
    if not failures:
        return []
    told = [f"{one.name} {one.what.version}: {one.reason.removeprefix(REFUSED)}" for one in failures]
    refused = any(one.reason.startswith(REFUSED) for one in failures)
    if refused or node.failures + 1 >= TRIES:
        server = server_to_reach(world, failures)
        raise keeps_failing(node, told, tries=node.failures + 1, refused=refused, server=server)
    raise NotAchieved(str(node.bmc), f"firmware is not as the bundle says: {'; '.join(told)}")


async def _await_jobs(world: World, key: RunKey, components: Sequence[str]) -> None:
    """Some write in the POST after a reset: until those jobs have ended."""

    async def over() -> bool:
        entries = [one for one in await open_entries(world, key, components) if one.task is not None]
        async with bmc_of(world, key.node) as bmc:
            return not any([await _works(bmc, one) for one in entries])

    await until(world.clock, over, every=LOOK_EVERY, limit=_POST_FLASH_LIMIT)


async def _works(bmc: Bmc, entry: Entry) -> bool:
    if entry.task is None or entry.phase is Phase.UNKNOWN:
        return False
    try:
        return flashes(await bmc.task(entry.task))
    except ResourceGone:
        return False


async def _verifying(world: World, key: RunKey, components: Sequence[str]) -> list[Entry]:
    """Those to be judged; what nobody knows stays so until it is."""
    entries = [one for one in await open_entries(world, key, components) if one.phase in _JUDGED]
    now = world.clock.now()
    begun = [one for one in entries if one.phase in {Phase.STAGED, Phase.ACTIVATING}]
    moved = await world.journal.move(begun, Change(Phase.VERIFYING, now, "activated"))
    return [*moved, *(one for one in entries if one.phase in {Phase.VERIFYING, Phase.UNKNOWN})]


async def _settled(world: World, key: RunKey, entries: Sequence[Entry]) -> Look:
    look: Look | None = None

    async def all_run() -> bool:
        nonlocal look
        async with bmc_of(world, key.node) as bmc:
            look = await see(world, key, bmc)
        return all(look.proof(one).runs for one in entries)

    await until(world.clock, all_run, every=LOOK_EVERY, limit=_SETTLE_LIMIT)
    assert look is not None, "until() has looked, or has raised"  # noqa: S101
    return look


async def _judge(world: World, look: Look, entry: Entry, fetched: str) -> None:
    proof, now = look.proof(entry), world.clock.now()
    if proof.runs:
        change = Change(Phase.DONE, now, f"runs in {', '.join(proof.parts)}", seen=True)
    elif not proof.silent or entry.what.component not in {one.component for one in look.bundle.components}:
        change = Change(Phase.FAILED, now, f"activated, and {'; '.join(proof.left)}{fetched}", seen=True)
    elif entry.phase is Phase.UNKNOWN:
        return
    else:
        change = Change(Phase.UNKNOWN, now, f"activated, and {'; '.join(proof.left)}")
    await world.journal.move([entry], change)


async def _failures(world: World, key: RunKey, components: Sequence[str], look: Look) -> list[Entry]:
    """The last try of each class (and part) that was not done, unless the device is seen to run it all the same."""
    history = [one for one in await world.journal.history(key.node) if one.what.component in components]
    wanted = {one.what.component: one.what.version for one in history}
    last = {(one.what.component, one.what.part): one for one in history}
    bad = [
        one for one in last.values() if one.phase is not Phase.DONE and wanted[one.what.component] == one.what.version
    ]
    return [one for one in bad if not look.proof(one).runs]
