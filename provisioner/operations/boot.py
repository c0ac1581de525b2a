"""booting -> burning_in: the node runs the image of its release and says so itself."""

import secrets
from datetime import timedelta

from provisioner.boot.choose import choose_method
from provisioner.capabilities.bmcs import Bmc
from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import AnswerLost, BmcUnreachable, NeedsPerson, NotAchieved
from provisioner.models.boot import BootMethod, BootTicket
from provisioner.models.identifiers import RunKey
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.inventory import Power
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.secret import Secret
from provisioner.operations.inventory import look_again
from provisioner.operations.outcome import Outcome
from provisioner.operations.power import power_off, power_on
from provisioner.operations.reach import bmc_of, release_of, tell

AGENT = "agent"
"""The topic that is signalled when a node's agent registers."""

_TRIES = 3
_LOOK_EVERY = timedelta(seconds=20)
_LOOKS = 120
"""40 minutes: self-test, network boot and image, on the slowest server seen, twice."""


async def boot(durable: Durable, world: World, key: RunKey) -> Outcome:
    """Boot from the network; when power is lost or nobody reports, try again, three times in all."""
    for number in range(1, _TRIES + 1):
        await durable.step(f"switch_off:{number}", switch_off, world, key)
        await durable.step(f"open_ticket:{number}", open_ticket, world, key)
        await durable.step(f"set_boot:{number}", set_boot, world, key)
        await durable.step(f"switch_on:{number}", switch_on, world, key)
        for _ in range(_LOOKS):
            seen = await durable.step("look_for_agent", look_for_agent, world, key)
            if seen == "registered":
                summary = await durable.step("check_image", check_image, world, key)
                return Outcome(State.BURNING_IN, summary)
            if seen == "off":
                break
            await durable.wait_signal(AGENT, _LOOK_EVERY)
    await durable.step("give_up", give_up, world, key)
    raise AssertionError("give_up always raises")


async def open_ticket(world: World, key: RunKey) -> None:
    """One permission to boot per attempt; the same one however often this runs."""
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
    await world.boots.open(ticket)


async def switch_off(world: World, key: RunKey) -> None:
    """Off, unless the node has already booted with this attempt's ticket.

    Before there is a ticket: a host that is on may find us by itself (its boot order ends in PXE), and one that boots
    with the ticket must not be switched off in that moment.
    """
    ticket = await world.boots.latest(key.node)
    if ticket is None or not _is_of(ticket, key) or ticket.boot_id is None:
        await power_off(world, key)


async def set_boot(world: World, key: RunKey) -> None:
    """Tell the firmware to boot from the network once. Raises `NeedsPerson` when the BMC offers no way."""
    ticket = await _ticket(world, key)
    if ticket.boot_id is not None:
        return
    await tell(world, key, "setting the boot device")
    uri = Secret(f"{world.public_url}/boot/{ticket.key.reveal()}")
    seen = await world.documents.inventory(key.node)
    method = choose_method(seen.boot, uri) or choose_method((await look_again(world, key)).boot, uri)
    if method is None:
        raise _no_network_boot(await world.nodes.get(key.node))
    async with bmc_of(world, key.node) as bmc:
        if not _is_set(method, await bmc.boot_override()):
            await _ask(bmc, method)


async def switch_on(world: World, key: RunKey) -> None:
    """On, unless the node has already booted with this ticket."""
    if (await _ticket(world, key)).boot_id is None:
        await power_on(world, key)


async def look_for_agent(world: World, key: RunKey) -> str:
    """`registered`, `off` when the host has lost power meanwhile, or "" for: not yet.

    Raises `NotAchieved` when it has lost power after its report: the ticket is used up.
    """
    ticket = await _ticket(world, key)
    is_off = await _is_off(world, key)
    if ticket.boot_id is None:
        await tell(world, key, f"booting; asked for its image {ticket.served} times so far")
        return "off" if is_off else ""
    if is_off:
        raise NotAchieved(str((await world.nodes.get(key.node)).bmc), "the host lost power as soon as it had booted")
    return "registered"


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
    ticket = await _ticket(world, key)
    node = await world.nodes.get(key.node)
    asked = f"it asked for its image {ticket.served} times" if ticket.served else "it never asked for an image"
    look = "look at its console for why the image stops" if ticket.served else "check that the boot network's cable is "
    if not ticket.served:
        look += "in the port that boots, with a link light, and that network boot is on in the BIOS set-up"
    raise NeedsPerson(
        f"switched on {_TRIES} times, and no agent reported; {asked}",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what=f"{look}; then: firstlight node release {node.name}",
            part=None if ticket.served else "network cable, if its link light stays dark",
            done_when="its agent reports",
        ),
    )


async def _ticket(world: World, key: RunKey) -> BootTicket:
    ticket = await world.boots.latest(key.node)
    if ticket is None or not _is_of(ticket, key):
        raise NotAchieved(key.node, f"the boot permission of {key.id} has been replaced")
    return ticket


def _is_of(ticket: BootTicket, key: RunKey) -> bool:
    return (ticket.generation, ticket.attempt) == (key.generation, key.attempt)


def _is_set(method: BootMethod, override: tuple[str, str, str | None]) -> bool:
    enabled, target, uri = override
    wanted = method.uri.reveal() if method.uri else None
    return enabled in {"Once", "Continuous"} and target == method.target and (wanted is None or uri == wanted)


async def _ask(bmc: Bmc, method: BootMethod) -> None:
    try:
        await bmc.set_boot_override(method)
    except AnswerLost:
        if not _is_set(method, await bmc.boot_override()):
            raise


def _no_network_boot(node: Node) -> NeedsPerson:
    return NeedsPerson(
        "its BMC offers neither HTTP boot nor PXE",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=node.place,
            what="switch network boot on in the BIOS set-up (network stack, PXE), "
            f"then: firstlight node release {node.name}",
            done_when="the BMC lists Pxe or UefiHttp among its boot targets",
        ),
    )
