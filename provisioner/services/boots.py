"""What a node's firmware and its initrd may ask and tell: what do I boot now, with which words, and why it failed."""

import asyncio
from dataclasses import replace

from provisioner.boot.answer import Answer, BootImage, Discover, Question, answer
from provisioner.capabilities.runs import Runs
from provisioner.capabilities.world import World
from provisioner.errors import Conflict
from provisioner.models.boot import Asker, BootFailure, BootTicket, Caller, FailureKind
from provisioner.models.found_host import FoundHost, HostHow
from provisioner.models.identifiers import RunKey
from provisioner.models.secret import Secret
from provisioner.operations.boot import AGENT
from provisioner.placement.callers import is_said_by
from provisioner.services.agents import NotAdmitted

_LEASE_PAUSES = (0.1, 0.2, 0.3, 0.4)
"""Seconds between the looks for a lease: few, as each host of a hall without our DHCP server takes all of them."""


async def answer_key(world: World, key: Secret) -> Answer:
    """Firmware that was given a boot URI through its BMC."""
    return await _answer(world, Question(key=key), await world.boots.askers.by_key(key))


async def answer_identity(world: World, caller: Caller) -> Answer:
    """Firmware that found us by itself and says who it is."""
    return await _answer(world, Question(caller=caller), await _asker(world, caller))


async def answer_address(world: World, caller: Caller) -> Answer:
    """Firmware that found us by itself and says nothing: whoever got its address from our DHCP server.

    Who has no lease waits up to a second for it.
    """
    mac = await _leased_to(world, caller.address)
    said = replace(caller, mac=mac or "")
    return await _answer(world, Question(caller=said), await world.boots.askers.by_port(mac) if mac else None)


async def answer_initrd(world: World, caller: Caller, image: str) -> Answer:
    """The initrd of `image` asks for the words of this boot: its program is the same for all nodes."""
    decided = await _answer(world, Question(image=image, caller=caller), await _asker(world, caller))
    if isinstance(decided, BootImage):
        await world.boots.asked(decided.ticket)
    return decided


async def served(world: World, decided: BootImage, *, program: bool = False) -> None:
    """Count that it is told so, before it is told; `program`: it gets the program for UEFI."""
    await world.boots.served(decided.ticket, program=program)


async def report_failure(world: World, runs: Runs, token: Secret, kind: FailureKind, detail: str) -> None:
    """An initrd says why it gave up. Again changes nothing.

    Raises `NotAdmitted` for a token that we never gave, `Conflict` when a newer boot has replaced this one, or its
    agent has registered.
    """
    ticket = await world.boots.by_token(token)
    if ticket is None:
        raise NotAdmitted("this token is not known")
    latest = await world.boots.latest(ticket.node)
    if latest is None or latest.token != ticket.token:
        raise Conflict("a newer boot of this node has replaced this one")
    if latest.boot_id is not None:
        raise Conflict("the agent of this boot has registered")
    await _keep_failure(world, latest, kind, detail)
    await runs.signal(RunKey("boot", ticket.node, ticket.generation, ticket.attempt).id, AGENT)


async def _keep_failure(world: World, ticket: BootTicket, kind: FailureKind, detail: str) -> None:
    now = world.clock.now()
    await world.boots.failed(ticket, BootFailure(kind, detail, now, ticket.served))
    await world.nodes.tell(ticket.node, f"its boot failed ({kind}): {detail}", now)


async def _answer(world: World, question: Question, asker: Asker | None) -> Answer:
    decided = answer(question, asker.node, asker.latest) if asker else answer(question, None, None)
    if isinstance(decided, Discover):
        await _note(world, decided.caller)
    return decided


async def _leased_to(world: World, address: str) -> str | None:
    """The MAC that got the address; None when it has no lease, also a second later.

    Firmware asks as soon as it has its address; we are told of the lease 0.1 s later, or more where a hall comes up.
    """
    for seconds in _LEASE_PAUSES:
        mac = await world.hosts.by_address(address)
        if mac is not None:
            return mac
        await asyncio.sleep(seconds)
    return await world.hosts.by_address(address)


async def _asker(world: World, caller: Caller) -> Asker | None:
    """The node that two of three agree on: serial number, UUID, port. By the port alone where firmware has no more."""
    by_name = await world.boots.askers.by_identity(caller.serial, caller.uuid)
    if by_name is not None:
        return by_name
    by_port = await world.boots.askers.by_port(caller.mac)
    return by_port if by_port is not None and is_said_by(by_port.node, caller) else None


async def _note(world: World, caller: Caller) -> None:
    now = world.clock.now()
    await world.hosts.note(
        FoundHost(
            mac=caller.mac,
            address=caller.address,
            client_class=caller.arch,
            uuid=caller.uuid,
            serial=caller.serial,
            how=HostHow.BOOT,
            first_seen=now,
            last_seen=now,
        )
    )
