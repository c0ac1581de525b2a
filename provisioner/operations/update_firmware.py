"""updating_firmware -> configuring_bios: every component runs the version that the bundle names."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import NotAchieved
from provisioner.firmware.phase import SENT, Entry, Planned
from provisioner.firmware.plan import FirmwarePlan, Stage
from provisioner.models.identifiers import RunKey
from provisioner.models.lifecycle import State
from provisioner.operations.firmware_activate import activate
from provisioner.operations.firmware_look import LOOK_EVERY, Look, classes_of, see, see_all
from provisioner.operations.firmware_packages import refuse_unfit
from provisioner.operations.firmware_people import does_not_fit
from provisioner.operations.firmware_send import start_update
from provisioner.operations.firmware_step_up import step_up
from provisioner.operations.firmware_verify import verify_stage
from provisioner.operations.firmware_wait import await_update
from provisioner.operations.outcome import Outcome
from provisioner.operations.reach import bmc_of, release_of, tell, until

_MOST_STAGES = 24
_MOST_PARTS = 64
_COMPLETE_LIMIT = timedelta(minutes=3)
"""A BMC that has just started shows a part of its inventory, for 40 s and more (fwupd#4531)."""

_SETTLE_LIMIT = timedelta(minutes=10)


async def update_firmware(durable: Durable, world: World, key: RunKey) -> Outcome:
    """Stage by stage: flash what differs, in order; activate all of it together; believe only the running versions."""
    for _ in range(_MOST_STAGES):
        stage = await durable.step("plan_stage", plan_stage, world, key)
        if not stage:
            summary = await durable.step("verify_firmware", verify_firmware, world, key)
            return Outcome(State.CONFIGURING_BIOS, summary)
        for components in stage:
            await _flash(durable, world, key, components)
        await _activate(durable, world, key, [one for group in stage for one in group])
    raise NotAchieved(key.node, f"after {_MOST_STAGES} stages the firmware is still not that of its bundle")


async def _flash(durable: Durable, world: World, key: RunKey, components: Sequence[str]) -> None:
    """One package; again for each part where the BMC takes one target after the other."""
    name = "+".join(components)
    for _ in range(_MOST_PARTS):
        left = await durable.step(f"start_update:{name}", start_update, world, key, components)
        await durable.step(f"await_update:{name}", await_update, world, key, components)
        if not left:
            return


async def _activate(durable: Durable, world: World, key: RunKey, components: Sequence[str]) -> None:
    """As planned, and once more by what cuts more power where that is not enough."""
    done = await activate(durable, world, key)
    verbs = await durable.step("verify_stage", verify_stage, world, key, components, done)
    if verbs:
        await step_up(durable, world, key, verbs)
        await durable.step("verify_stage_again", verify_stage, world, key, components, done)


async def plan_stage(world: World, key: RunKey) -> list[list[str]]:
    """The classes of the next stage, in order, those of one package together; empty when nothing is left to do.

    What was sent before is finished first, whatever is wanted now: the device may hold it. Raises `NeedsPerson` with
    every reason why the bundle cannot be reached.
    """
    await tell(world, key, "comparing firmware with its bundle")
    sent = [entry for entry in await world.journal.open(key.node) if entry.phase in SENT]
    look = await _complete(world, key, patient=not sent)
    plan = look.plan
    if sent and (plan.refusals or _is_other(sent, plan)):
        return _groups(sent, None)
    if plan.refusals:
        raise does_not_fit(await world.nodes.get(key.node), look.bundle.name, plan.refusals)
    await world.journal.plan(key.node, list(_planned(look, plan)), world.clock.now())
    if not sent:
        await refuse_unfit(world, key, look, plan.updates)
    return _groups(sent, plan.stages[0] if plan.stages else None)


async def verify_firmware(world: World, key: RunKey) -> str:
    """Every component runs its version; a sentence about it. Raises `NotAchieved` naming what does not.

    What was seen is kept with the node's inventory: whoever compares pools asks no BMC.
    """
    await tell(world, key, "checking the running versions")
    look: Look | None = None

    async def settled() -> bool:
        nonlocal look
        async with bmc_of(world, key.node) as bmc:
            look = await see(world, key, bmc)
        return not look.unproven

    await until(world.clock, settled, every=LOOK_EVERY, limit=_SETTLE_LIMIT)
    assert look is not None, "until() has looked, or has raised"  # noqa: S101
    inventory = await world.documents.inventory(key.node)
    await world.documents.put_inventory(key.node, replace(inventory, firmware=look.inventory), world.clock.now())
    if look.unproven:
        node = await world.nodes.get(key.node)
        raise NotAchieved(str(node.bmc), f"not seen to run their versions: {', '.join(look.unproven)}")
    release = await release_of(world, key.node)
    return f"all {len(release.firmware.components)} component classes run bundle {release.firmware.name}"


async def _complete(world: World, key: RunKey, *, patient: bool) -> Look:
    """What is seen once nothing is refused, or after a while; without patience, at once."""
    look: Look | None = None

    async def fits() -> bool:
        nonlocal look
        async with bmc_of(world, key.node) as bmc:
            look = await see_all(world, key, bmc)
        return not patient or not look.plan.refusals

    await until(world.clock, fits, every=LOOK_EVERY, limit=_COMPLETE_LIMIT)
    assert look is not None, "until() has looked, or has raised"  # noqa: S101
    return look


def _is_other(sent: Sequence[Entry], plan: FirmwarePlan) -> bool:
    """Something that was sent is not what is wanted next: it is finished alone, and then the device is planned anew."""
    next_versions = {name: version for update in reversed(plan.updates) for name, version in classes_of(update)}
    return any(next_versions.get(one.what.component, one.what.version) != one.what.version for one in sent)


def _planned(look: Look, plan: FirmwarePlan) -> Iterator[Planned]:
    """The next version of each class; what comes after a stepping stone is planned when that runs."""
    by_class = {one.component: one for one in look.bundle.components}
    known: set[str] = set()
    for update in plan.updates:
        for name, version in classes_of(update):
            if name not in known:
                known.add(name)
                yield Planned(name, version, update.digest, by_class[name].activation)


def _groups(sent: Sequence[Entry], stage: Stage | None) -> list[list[str]]:
    groups = [list(update.components) for update in stage.updates] if stage else []
    known = {name for group in groups for name in group}
    alone = dict.fromkeys(entry.what.component for entry in sent if entry.what.component not in known)
    return [*([name] for name in alone), *groups]
