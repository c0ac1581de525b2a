"""The last look before `ready`: the device itself, once more, against everything that its release says."""

from provisioner.bios.plan import plan_bios
from provisioner.capabilities.world import World
from provisioner.errors import NeedsPerson
from provisioner.firmware.plan import unproven
from provisioner.models.event import EventKind
from provisioner.models.identifiers import RunKey
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.inventory import Power
from provisioner.models.lifecycle import State
from provisioner.operations.reach import bmc_of, release_of, tell

BOOTS = 3
"""Boots that a burn-in may take; a node that has to go back more often has a fault."""


async def observe_ready(world: World, key: RunKey) -> list[str]:
    """[state to go to, reason]: ready, or the state that puts right what has drifted since."""
    await tell(world, key, "looking at everything once more")
    to, reason = await _observed(world, key)
    if to is not State.READY and await too_many_returns(world, key):
        raise await _drifts(world, key, reason)
    return [to.value, reason]


async def too_many_returns(world: World, key: RunKey) -> bool:
    """Going back from burn-in once more would be the third time since it came to it or a person let it go on."""
    returns = 0
    for event in reversed(await world.events.of(key.node)):
        if event.kind is EventKind.RELEASED or event.to_state is State.INVENTORIED:
            break
        back = event.from_state is State.BURNING_IN and event.to_state not in {State.READY, State.HELD}
        returns += back
    return returns + 1 >= BOOTS


async def _observed(world: World, key: RunKey) -> tuple[State, str]:
    release = await release_of(world, key.node)
    ticket = await world.boots.latest(key.node)
    async with bmc_of(world, key.node) as bmc:
        if await bmc.power() is not Power.ON:
            return State.BOOTING, "the host has lost power since its burn-in"
        behind = unproven(release.firmware, await bmc.firmware())
        bios = plan_bios(release.bios, await bmc.bios())
    if behind:
        return (
            State.UPDATING_FIRMWARE,
            f"firmware is not seen to be as it was when it was brought to its bundle: {', '.join(behind)}",
        )
    if bios.changes or bios.refusals:
        left = "; ".join([*bios.changes, *bios.refusals])
        return State.CONFIGURING_BIOS, f"BIOS settings have changed since: {left}"
    if ticket is None or ticket.booted_image != release.image_digest:
        return State.BOOTING, "the image that it reports is not the one of its release"
    await world.nodes.observe_image(key.node, release.image_digest, world.clock.now())
    checks = ", ".join(item.id for item in release.burn_in.items)
    return (
        State.READY,
        f"seen on the device: firmware {release.firmware.name}, BIOS {release.bios.name}, "
        f"image {release.image_digest[:19]}; passed: {checks}",
    )


async def _drifts(world: World, key: RunKey, reason: str) -> NeedsPerson:
    node = await world.nodes.get(key.node)
    return NeedsPerson(
        f"it had to go back from its burn-in {BOOTS} times; last: {reason}",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what="find out what changes it: check both power feeds, the BMC's event log and that nobody else manages "
            f"it, then: firstlight node release {node.name}",
            done_when="it stays as it is through the whole burn-in",
        ),
    )
