"""configuring_bios -> booting: BIOS settings are what the profile says."""

from collections.abc import Mapping

from provisioner.bios.plan import BiosPlan, plan_bios, same
from provisioner.capabilities.bmcs import BiosValue, Bmc
from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import AnswerLost, NeedsPerson, NotAchieved
from provisioner.models.identifiers import RunKey
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.lifecycle import State
from provisioner.operations.outcome import Outcome
from provisioner.operations.power import await_post, power_off, power_on
from provisioner.operations.reach import bmc_of, release_of, tell


async def configure_bios(durable: Durable, world: World, key: RunKey) -> Outcome:
    """Ask for what differs, reset so that it applies, and read it back: some BIOSes drop a value without a word."""
    changes = await durable.step("set_bios", set_bios, world, key)
    if changes:
        await durable.step("power_off_to_apply", power_off, world, key)
        await durable.step("power_on_to_apply", power_on, world, key)
        await durable.step("await_post_to_apply", await_post, world, key)
    summary = await durable.step("verify_bios", verify_bios, world, key)
    return Outcome(State.BOOTING, summary)


async def set_bios(world: World, key: RunKey) -> int:
    """How many attributes wait for the next reset. Raises `NeedsPerson` when the profile does not fit this BIOS."""
    await tell(world, key, "comparing BIOS settings with their profile")
    async with bmc_of(world, key.node) as bmc:
        plan = await _plan(world, key, bmc)
        if plan.refusals:
            raise await _does_not_fit(world, key, plan)
        if plan.changes and not _waits(plan, await bmc.pending_bios()):
            await _ask(bmc, plan)
    return len(plan.changes)


async def verify_bios(world: World, key: RunKey) -> str:
    """A sentence about it. Raises `NotAchieved` naming each attribute that is not as asked."""
    await tell(world, key, "reading BIOS settings back")
    async with bmc_of(world, key.node) as bmc:
        current = await bmc.bios()
        release = await release_of(world, key.node)
        plan = plan_bios(release.bios, current)
    left = [*plan.refusals, *(f"{name} is {current[name]!r}, not {wanted!r}" for name, wanted in plan.changes.items())]
    if left:
        raise NotAchieved(str(bmc.address), f"set and reset, yet {'; '.join(left)}")
    return f"all {len(release.bios.attributes)} BIOS settings are as {release.bios.name} says"


async def _plan(world: World, key: RunKey, bmc: Bmc) -> BiosPlan:
    release = await release_of(world, key.node)
    return plan_bios(release.bios, await bmc.bios())


def _waits(plan: BiosPlan, pending: Mapping[str, BiosValue]) -> bool:
    """Asked for already: some BMCs refuse to be asked again before the reset (dell/iDRAC-Redfish-Scripting#249)."""
    return all(name in pending and same(pending[name], wanted) for name, wanted in plan.changes.items())


async def _ask(bmc: Bmc, plan: BiosPlan) -> None:
    try:
        await bmc.set_bios(plan.changes)
    except AnswerLost:
        if not _waits(plan, await bmc.pending_bios()):
            raise


async def _does_not_fit(world: World, key: RunKey, plan: BiosPlan) -> NeedsPerson:
    release = await release_of(world, key.node)
    return NeedsPerson(
        "; ".join(plan.refusals),
        Instruction(
            owner=Owner.IMAGE_OWNER,
            where=f"BIOS profile {release.bios.name}",
            what="correct the attribute names, or list them as optional, restart the service, "
            f"then: firstlight node release {key.node}",
            done_when="every attribute of the profile exists on this server",
        ),
    )
