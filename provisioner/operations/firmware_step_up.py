"""One step up: what the planned cycle leaves old is cycled once more, harder, by what its BMC offers.

A part may have a power domain of its own: a DPU, a switch, a board behind another BMC
(dsx-ai-factory/infra-controller#3480). Once, then a person: never in a loop.
"""

from collections.abc import Sequence
from datetime import timedelta

from profiles.firmware.component import Activation
from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.firmware.classes import matching
from provisioner.firmware.phase import Change, Entry, Phase
from provisioner.firmware.stages import strongest
from provisioner.firmware.waiting import Image, image_of
from provisioner.models.identifiers import RunKey
from provisioner.models.inventory import FirmwareComponent
from provisioner.operations.bmc_ready import await_bmc
from provisioner.operations.firmware_look import Look, see
from provisioner.operations.firmware_neighbours import await_neighbours
from provisioner.operations.firmware_people import nothing_stronger
from provisioner.operations.interlock import await_no_flash
from provisioner.operations.power import ask_cycles, await_post, power_off, power_on
from provisioner.operations.reach import bmc_of, tell

_DRAIN = timedelta(seconds=20)
_BY_HAND = "a person pulls the cords: "
_ASKS = 2
"""A person may release too early once; and a crash may come between the journal and the hold."""


async def step_up(durable: Durable, world: World, key: RunKey, verbs: Sequence[str]) -> None:
    """By these verbs; the host goes off first, as it would lose devices under its feet."""
    await durable.step("power_off_to_step_up", power_off, world, key)
    await durable.sleep(_DRAIN)
    await durable.step("cut_more_power", cut_more_power, world, key, verbs)
    await durable.step("await_bmc_after_step_up", await_bmc, world, key)
    await durable.step("power_on_after_step_up", power_on, world, key)
    await durable.step("await_post_after_step_up", await_post, world, key)
    await durable.step("await_bmc_to_verify", await_bmc, world, key)


async def next_verbs(
    world: World, key: RunKey, look: Look, entries: Sequence[Entry], done: Sequence[Activation]
) -> list[str]:
    """The verbs that come next for what is left old; empty when there is none, or they have been tried.

    Waits for neighbours; raises `NeedsPerson` where one is in production.
    """
    history = await world.journal.history(key.node)
    left = [one for one in entries if _may_step_up(look, one, history)]
    if not left:
        return []
    planned = strongest([*done, *(one.what.activation for one in left)])
    parts = [part for one in left for part in _behind(look, one)]
    async with bmc_of(world, key.node) as bmc:
        verbs = await bmc.stronger_verbs(planned, parts)
    if verbs:
        await await_neighbours(world, key, left, strongest([one.activation for one in verbs]), beyond_plan=True)
    return [one.name for one in verbs]


async def cut_more_power(world: World, key: RunKey, verbs: Sequence[str]) -> None:
    """Written down first. Found written down, it is asked again unless what waits for it runs by now."""
    await await_no_flash(world, key)
    entries = await world.journal.open(key.node)
    begun = [one for one in entries if one.phase is Phase.VERIFYING and len(one.activations) == 1]
    if not begun:
        await await_bmc(world, key)
        async with bmc_of(world, key.node) as bmc:
            look = await see(world, key, bmc)
        if all(look.proof(one).runs for one in entries if one.phase is Phase.ACTIVATING):
            return
    words = " and ".join(verbs)
    change = Change(Phase.ACTIVATING, world.clock.now(), f"the old version runs after it: now {words}", seen=True)
    await world.journal.move(begun, change)
    await tell(world, key, f"cutting more power ({words})")
    await ask_cycles(world, key, verbs)


async def ask_person(world: World, key: RunKey, look: Look, entries: Sequence[Entry]) -> None:
    """Raises `NeedsPerson` where a new image is seen to wait, twice at most; it stays as it is meanwhile."""
    waiting = [one for one in entries if _waits(look, one) is Image.THERE and len(_by_hand(one)) < _ASKS]
    if not waiting:
        return
    by_verb = [change for one in waiting for change in one.activations if change not in _by_hand(one)]
    tried = dict.fromkeys(change.reason.rpartition(": now ")[2] for change in by_verb)
    words = [f"{one.name} {one.what.version} ({'; '.join(look.proof(one).left)})" for one in waiting]
    reason = f"{_BY_HAND}the BMC offers nothing stronger"
    await world.journal.move(waiting, Change(Phase.ACTIVATING, world.clock.now(), reason, seen=True))
    raise nothing_stronger(await world.nodes.get(key.node), words, " and ".join(tried))


def _may_step_up(look: Look, entry: Entry, history: Sequence[Entry]) -> bool:
    """Once for each version: where the image is not said to wait, it may not have been written at all."""
    proof, image = look.proof(entry), _waits(look, entry)
    same = [one for one in history if (one.what.component, one.what.part) == (entry.what.component, entry.what.part)]
    before = [one for one in same if one.what.version == entry.what.version and len(one.activations) > 1]
    if entry.phase is not Phase.VERIFYING or before or proof.silent or not proof.left:
        return False
    if entry.what.activation in {Activation.NONE, Activation.BMC_RESET}:
        return image is Image.THERE
    return image is not Image.GONE


def _waits(look: Look, entry: Entry) -> Image:
    what = entry.what
    return image_of(look.bundle, what.component, what.version, look.inventory, what.part)


def _by_hand(entry: Entry) -> list[Change]:
    return [change for change in entry.activations if change.reason.startswith(_BY_HAND)]


def _behind(look: Look, entry: Entry) -> list[FirmwareComponent]:
    """The parts of its class that do not run its version."""
    wanted = next(one for one in look.bundle.components if one.component == entry.what.component)
    running = look.proof(entry).parts
    return [one for one in matching(wanted, look.inventory) if one.id not in running]
