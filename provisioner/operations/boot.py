"""booting -> burning_in: the node runs the image of its release and says so itself."""

import secrets
from datetime import timedelta

from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import BmcUnreachable, NeedsPerson, NotAchieved
from provisioner.models.boot import SERVINGS_PER_TRY, BootTicket
from provisioner.models.identifiers import RunKey
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.inventory import Power
from provisioner.models.lifecycle import State
from provisioner.models.secret import Secret
from provisioner.operations.boot_failures import failed, gave_up
from provisioner.operations.boot_method import set_method
from provisioner.operations.outcome import Outcome
from provisioner.operations.power import power_off, power_on
from provisioner.operations.reach import bmc_of, release_of, tell

AGENT = "agent"
"""The topic that is signalled when a node's agent registers, or its initrd says why it gave up."""

_TRIES = 3
_LOOK_EVERY = timedelta(seconds=20)
_LOOKS = 120
"""40 minutes: self-test, network boot and image, on the slowest server seen, twice."""
_LOOKS_WHEN_SPENT = 45
"""15 minutes for the last boot that was served; there is no other one in this try."""

_REGISTERED, _OFF, _FAILED, _SPENT, _NOT_YET = "registered", "off", "failed", "spent", ""


async def boot(durable: Durable, world: World, key: RunKey) -> Outcome:
    """Boot from the network; when power is lost or nobody reports, try again, three times in all."""
    for number in range(1, _TRIES + 1):
        await durable.step(f"switch_off:{number}", switch_off, world, key)
        known = await durable.step(f"open_ticket:{number}", open_ticket, world, key, number)
        await durable.step(f"set_boot:{number}", set_boot, world, key)
        await durable.step(f"switch_on:{number}", switch_on, world, key)
        if await _await_agent(durable, world, key, known) == _REGISTERED:
            summary = await durable.step("check_image", check_image, world, key)
            return Outcome(State.BURNING_IN, summary)
    await durable.step("give_up", give_up, world, key)
    raise AssertionError("give_up always raises")


async def _await_agent(durable: Durable, world: World, key: RunKey, known: int) -> str:
    """What was seen last, as of `look_for_agent`."""
    spent = 0
    for _ in range(_LOOKS):
        seen = await durable.step("look_for_agent", look_for_agent, world, key, known)
        if seen in {_REGISTERED, _OFF, _FAILED}:
            return seen
        spent += seen == _SPENT
        if spent > _LOOKS_WHEN_SPENT:
            return seen
        await durable.wait_signal(AGENT, _LOOK_EVERY)
    return _NOT_YET


async def open_ticket(world: World, key: RunKey, number: int = 1) -> int:
    """One permission to boot per attempt, the same one however often this runs; failures that it knows of already.

    Each try may be served a number of times more.
    """
    await tell(world, key, "preparing the boot")
    release = await release_of(world, key.node)
    ticket = BootTicket(
        node=key.node,
        generation=key.generation,
        attempt=key.attempt,
        key=Secret(secrets.token_urlsafe(24)),
        token=Secret(secrets.token_urlsafe(24)),
        image=release.image_digest,
        root=world.artefacts.manifest(release.image_digest).artefact("root").digest,
        served=0,
        boot_id=None,
        registered_at=None,
        booted_image=None,
        booted_root=None,
    )
    kept = await world.boots.open(ticket)
    if number > 1:
        kept = await world.boots.allow(kept, number * SERVINGS_PER_TRY)
    return len(kept.failures)


async def switch_off(world: World, key: RunKey) -> None:
    """Off, unless the node has already booted with this attempt's ticket.

    Before there is a ticket: a host that is on may find us by itself (its boot order ends in PXE), and one that boots
    with the ticket must not be switched off in that moment.
    """
    ticket = await world.boots.latest(key.node)
    if ticket is None or not _is_of(ticket, key) or ticket.boot_id is None:
        await power_off(world, key)


async def set_boot(world: World, key: RunKey) -> None:
    """Tell the firmware to boot from the network once. Raises `NeedsPerson` when that cannot work."""
    ticket = await _ticket(world, key)
    if ticket.boot_id is None:
        await tell(world, key, "setting the boot device")
        await set_method(world, key, ticket)


async def switch_on(world: World, key: RunKey) -> None:
    """On, unless the node has already booted with this ticket."""
    if (await _ticket(world, key)).boot_id is None:
        await power_on(world, key)


async def look_for_agent(world: World, key: RunKey, known: int = 0) -> str:
    """`registered`; `off` when the host has lost power meanwhile; `failed` when its initrd has reported more than the
    `known` failures; `spent` when it will be served no more in this try; "" for: not yet.

    Raises `NeedsPerson` for a failure that another try would not mend, and `NotAchieved` when the host has lost power
    after its report: the ticket is used up.
    """
    ticket = await _ticket(world, key)
    is_off = await _is_off(world, key)
    if ticket.boot_id is not None and is_off:
        raise NotAchieved(str((await world.nodes.get(key.node)).bmc), "the host lost power as soon as it had booted")
    if ticket.boot_id is not None:
        return _REGISTERED
    if ticket.failures and ticket.failures[-1].is_final:
        raise await failed(world, await world.nodes.get(key.node), ticket)
    if len(ticket.failures) > known:
        return _FAILED
    await tell(world, key, f"booting; asked for its image {ticket.served} times so far")
    if is_off:
        return _OFF
    return _SPENT if ticket.served >= ticket.most_served else _NOT_YET


async def _is_off(world: World, key: RunKey) -> bool:
    """False where the BMC does not answer: the node may boot all the same; only its own report counts."""
    try:
        async with bmc_of(world, key.node) as bmc:
            return await bmc.power() is Power.OFF
    except BmcUnreachable:
        return False


async def check_image(world: World, key: RunKey) -> str:
    """The node reports the digests that it booted. Raises `NeedsPerson` when they are not those of its release."""
    ticket = await _ticket(world, key)
    if (ticket.booted_image, ticket.booted_root) == (ticket.image, ticket.root):
        return f"its agent reports image {ticket.image[:19]}"
    node = await world.nodes.get(key.node)
    raise NeedsPerson(
        f"it reports image {ticket.booted_image} (root {ticket.booted_root}), and was given {ticket.image}",
        Instruction(
            owner=Owner.IMAGE_OWNER,
            where=node.place,
            what="find out where it got that image from (another boot server, a local disk), "
            f"then: firstlight node release {node.name}",
            done_when=f"its agent reports {ticket.image}",
        ),
    )


async def give_up(world: World, key: RunKey) -> None:
    """Raises `NeedsPerson` with what was seen: this has been tried three times, and took two hours."""
    raise gave_up(await world.nodes.get(key.node), await _ticket(world, key), _TRIES)


async def _ticket(world: World, key: RunKey) -> BootTicket:
    ticket = await world.boots.latest(key.node)
    if ticket is None or not _is_of(ticket, key):
        raise NotAchieved(key.node, f"the boot permission of {key.id} has been replaced")
    return ticket


def _is_of(ticket: BootTicket, key: RunKey) -> bool:
    return (ticket.generation, ticket.attempt) == (key.generation, key.attempt)
