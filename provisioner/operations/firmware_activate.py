"""Making staged firmware the running one: everything of a stage together, by the gentlest way that does it."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from profiles.firmware.component import Activation
from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import BmcUnreachable, ResourceGone
from provisioner.firmware.phase import Change, Entry, Phase
from provisioner.firmware.stages import STRENGTH
from provisioner.firmware.task import waits_for_reset
from provisioner.models.identifiers import RunKey
from provisioner.operations.bmc_ready import await_bmc
from provisioner.operations.firmware_look import LOOK_EVERY, see
from provisioner.operations.firmware_neighbours import await_neighbours
from provisioner.operations.firmware_people import pull_the_cords
from provisioner.operations.power import ask_bmc_reset, ask_cycle, await_post, power_off, power_on
from provisioner.operations.reach import bmc_of, tell, until

_ACTIVATED = frozenset({Phase.STAGED, Phase.ACTIVATING, Phase.UNKNOWN})
_BY_CUT = (Activation.AUX_CYCLE, Activation.AC_CYCLE)
_DRAIN = timedelta(seconds=20)
_SELF_RESET = timedelta(minutes=4)
"""So long after its update a BMC may begin to restart by itself; a reset meanwhile breaks some (fwupd#6544)."""
_SETTLE_LIMIT = timedelta(minutes=10)
_LOST_LIMIT = timedelta(minutes=3)
_BMC_RESETS = 3


async def activate(durable: Durable, world: World, key: RunKey) -> list[Activation]:
    """All that is staged on this node; what was done for it."""
    kinds = [Activation(kind) for kind in await durable.step("prepare_activation", prepare_activation, world, key)]
    for kind in kinds:
        if kind is Activation.BMC_RESET:
            await durable.step("reset_bmc", reset_bmc, world, key)
            continue
        if kind not in _BY_CUT or await durable.step("host_off_first", host_off_first, world, key, kind):
            await durable.step("power_off_to_activate", power_off, world, key)
            await durable.sleep(_DRAIN)
        if kind in _BY_CUT:
            await durable.step("cut_power", cut_power, world, key, kind)
            await durable.step("await_bmc_after_cut", await_bmc, world, key)
        await durable.step("power_on_to_activate", power_on, world, key)
        await durable.step("await_post_to_activate", await_post, world, key)
    if kinds:
        await durable.step("await_bmc_to_activate", await_bmc, world, key)
    return kinds


async def prepare_activation(world: World, key: RunKey) -> list[str]:
    """What has to be done, in order: a reset of the BMC, then one of the host or a cut of power.

    Written into the journal before it is done. Raises `NeedsPerson` where nothing that the BMC offers is enough.
    """
    entries = [one for one in await world.journal.open(key.node) if one.phase in _ACTIVATED]
    if any(one.phase is not Phase.STAGED for one in entries):
        await await_bmc(world, key)  # somebody may just have cut its power: half an inventory would mislead
    async with bmc_of(world, key.node) as bmc:
        entries = await _left(world, key, bmc, entries)
        waits = await _scheduled(bmc, entries)
    kinds = _kinds({one.what.activation for one in entries}, waits=waits)
    if kinds:
        await await_neighbours(world, key, entries, kinds[-1])
    async with bmc_of(world, key.node) as bmc:
        for kind in kinds:
            if kind in _BY_CUT and await bmc.cycle_verb(kind) is None:
                told = all(one.phase is not Phase.STAGED for one in entries)
                await _begin(world, entries, kinds)
                names = [one.name for one in entries if one.what.activation is kind]
                raise pull_the_cords(await world.nodes.get(key.node), kind, names, told=told)
    await _begin(world, entries, kinds)
    return [str(kind) for kind in kinds]


async def reset_bmc(world: World, key: RunKey) -> None:
    """Let the BMC restart by itself; reset it only if it does not, and the new version does not run.

    It is asked again only when the answer was lost: a second reset does less harm than a second flash.
    """
    await tell(world, key, "activating the BMC's firmware")
    if await _restarts_by_itself(world, key):
        await await_bmc(world, key)

    async def runs() -> bool:
        async with bmc_of(world, key.node) as bmc:
            return await _runs(world, key, bmc)

    for _ in range(_BMC_RESETS):
        if await until(world.clock, runs, every=LOOK_EVERY, limit=timedelta()):
            break
        answered = await ask_bmc_reset(world, key)
        if await until(world.clock, runs, every=LOOK_EVERY, limit=_SETTLE_LIMIT if answered else _LOST_LIMIT):
            break
        if answered:
            break
    await await_bmc(world, key)


async def host_off_first(world: World, key: RunKey, kind: str) -> bool:
    """The BMC's verb for a cut of power is refused while the host is on."""
    async with bmc_of(world, key.node) as bmc:
        verb = await bmc.cycle_verb(Activation(kind))
    return verb is not None and verb.needs_off


async def cut_power(world: World, key: RunKey, kind: str) -> None:
    """Unless what waits for it runs already: a crash may have come after the cut."""
    waiting = [one for one in await world.journal.open(key.node) if one.what.activation is Activation(kind)]
    async with bmc_of(world, key.node) as bmc:
        look = await see(world, key, bmc)
    if all(look.proof(one).runs for one in waiting if one.phase is Phase.ACTIVATING):
        return
    await tell(world, key, f"cutting power ({kind})")
    await ask_cycle(world, key, Activation(kind))


def _kinds(activations: set[Activation], *, waits: bool) -> list[Activation]:
    """A cut of power does all; else the BMC first, then the host once."""
    wanted = activations - {Activation.NONE} | ({Activation.HOST_RESET} if waits else set())
    if not wanted:
        return []
    strongest = max(wanted, key=STRENGTH.__getitem__)
    if strongest in _BY_CUT:
        return [strongest]
    bmc = [Activation.BMC_RESET] if Activation.BMC_RESET in wanted else []
    return [*bmc, *([strongest] if strongest is not Activation.BMC_RESET else [])]


async def _left(world: World, key: RunKey, bmc: Bmc, entries: Sequence[Entry]) -> list[Entry]:
    """Without what is seen to run: an activation that was begun, perhaps by a person, or what nobody knew about.

    And without what was cycled harder than planned, or by a person: only a look is left for it.

    What is only staged is activated even if the inventory shows it: some show what waits (phosphor-bmc-code-mgmt#13).
    """
    look = await see(world, key, bmc)
    left: list[Entry] = []
    for entry in entries:
        proof = look.proof(entry)
        if len(entry.activations) > 1:
            continue
        if entry.phase is Phase.STAGED or not proof.runs:
            left.append(entry)
        elif entry.phase is Phase.UNKNOWN:
            seen = Change(Phase.DONE, world.clock.now(), f"seen on the device: {', '.join(proof.parts)}", seen=True)
            await world.journal.move([entry], seen)
    return left


async def _scheduled(bmc: Bmc, entries: Sequence[Entry]) -> bool:
    """A job waits for a reset of the host (dell/iDRAC-Redfish-Scripting#32)."""
    for task in dict.fromkeys(entry.task for entry in entries if entry.task is not None):
        try:
            if waits_for_reset(await bmc.task(task)):
                return True
        except ResourceGone:
            continue
    return False


async def _begin(world: World, entries: Sequence[Entry], kinds: Sequence[Activation]) -> None:
    staged = [one for one in entries if one.phase is Phase.STAGED]
    change = Change(Phase.ACTIVATING, world.clock.now(), " and ".join(kinds) or "runs without a reset")
    await world.journal.move(staged, change)


async def _runs(world: World, key: RunKey, bmc: Bmc) -> bool:
    """Everything that a reset of the BMC activates is seen to run."""
    look = await see(world, key, bmc)
    entries = [one for one in await world.journal.open(key.node) if one.phase in _ACTIVATED]
    return all(look.proof(one).runs for one in entries if one.what.activation is Activation.BMC_RESET)


async def _restarts_by_itself(world: World, key: RunKey) -> bool:
    """It has gone away, or the new version runs already; False after a while in which neither was seen."""
    time = asyncio.get_running_loop().time
    end = time() + world.clock.limit(_SELF_RESET)
    while time() < end:
        try:
            async with bmc_of(world, key.node) as bmc:
                if await _runs(world, key, bmc):
                    return True
        except BmcUnreachable:
            return True
        await asyncio.sleep(world.clock.wall(LOOK_EVERY))
    return False
