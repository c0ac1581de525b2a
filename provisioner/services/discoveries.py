"""What looking around has found: BMCs that nobody expects, nodes that do not answer, and what to do about each."""

import asyncio
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from provisioner.capabilities.found_bmcs import FoundBmcs
from provisioner.capabilities.found_hosts import Hosts
from provisioner.capabilities.records import Nodes
from provisioner.discovery.found import ExpectedBmc, MissingNode, Planned, UnexpectedBmc, judge
from provisioner.models.found_bmc import FoundBmc, Scan
from provisioner.models.found_host import FoundHost
from provisioner.models.identifiers import NodeName
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import ExpectedNode, Node

_EXCUSED = frozenset({State.UPDATING_FIRMWARE, State.DECOMMISSIONING, State.DECOMMISSIONED})
"""Their BMC restarts by our own doing, and the update itself tells when it does not come back; or nobody waits."""


@dataclass(frozen=True, slots=True)
class Unexpected:
    """A BMC that answers where no node is. `same_uuid`: the nodes that are known by its UUID; never merged."""

    bmc: FoundBmc
    same_uuid: tuple[Planned, ...]
    instruction: Instruction


@dataclass(frozen=True, slots=True)
class Missing:
    """A node whose BMC did not answer. `elsewhere`: unexpected BMCs that say its UUID."""

    node: Planned
    last_seen: datetime | None
    elsewhere: tuple[FoundBmc, ...]
    instruction: Instruction


@dataclass(frozen=True, slots=True)
class Discoveries:
    """As of the last scan; all empty, and `scan` None, before the first."""

    scan: Scan | None
    expected: tuple[ExpectedBmc, ...] = ()
    unexpected: tuple[Unexpected, ...] = ()
    missing: tuple[Missing, ...] = ()


@dataclass(frozen=True, slots=True)
class UnknownHost:
    """A host that asked for an address or for something to boot, and is none of the nodes."""

    host: FoundHost
    instruction: Instruction


async def unknown_hosts(hosts: Hosts) -> tuple[UnknownHost, ...]:
    """By MAC; each with what one person does about it."""
    return tuple(UnknownHost(host, _introduce(host)) for host in await hosts.strangers())


async def discoveries(nodes: Nodes, found: FoundBmcs) -> Discoveries:
    """The last scan held against the nodes as they are now."""
    scan = await found.last_scan()
    if scan is None:
        return Discoveries(None)
    known = await nodes.all()
    excused = {node.name for node in known if node.state in _EXCUSED}
    plan = [_planned(node) for node in known]
    return await asyncio.to_thread(instruct, scan, await found.all(), plan, excused)  # long for ten thousand nodes


def instruct(
    scan: Scan, found: Iterable[FoundBmc], plan: Sequence[Planned], excused: Container[NodeName] = ()
) -> Discoveries:
    """Judge, and say what one person does about each finding. Pure. The nodes in `excused` may be silent."""
    judgement = judge(scan, found, plan)
    answering = {one.node.name for one in judgement.expected}
    return Discoveries(
        scan,
        judgement.expected,
        tuple(Unexpected(one.bmc, one.same_uuid, _about(one, answering)) for one in judgement.unexpected),
        tuple(
            Missing(one.node, one.last_seen, one.elsewhere, _check(one))
            for one in judgement.missing
            if one.node.name not in excused
        ),
    )


def planned(node: ExpectedNode) -> Planned:
    """A line of the expected list, of which nobody knows more."""
    return Planned(node.name, node.rack, node.position, node.bmc)


def _planned(node: Node) -> Planned:
    return Planned(node.name, node.rack, node.position, node.bmc, node.uuid)


def _about(stranger: UnexpectedBmc, answering: Container[NodeName]) -> Instruction:
    bmc = stranger.bmc
    server = " ".join(part for part in (bmc.vendor, bmc.product) if part) or "a server that does not say its make"
    where = f"{bmc.address}: {server}, UUID {bmc.uuid or 'not given'}"
    if not stranger.same_uuid:
        return Instruction(
            owner=Owner.OPERATOR,
            where=where,
            what="put it on the expected list with rack and position, and start the service again; or unplug it",
            done_when="the service knows a node at this address, or a scan finds nothing there",
        )
    return Instruction(
        owner=Owner.OPERATOR,
        where=where,
        what="; ".join(_twin(node, answers=node.name in answering) for node in stranger.same_uuid),
        done_when="a scan finds nothing at this address",
    )


def _introduce(host: FoundHost) -> Instruction:
    said = {"address": host.address, "serial": host.serial, "UUID": host.uuid, "class": host.client_class}
    return Instruction(
        owner=Owner.OPERATOR,
        where=", ".join([f"MAC {host.mac}", *(f"{name} {text}" for name, text in said.items() if text)]),
        what="put its server on the expected list by its BMC, with rack and position, and start the service again; "
        "or unplug it from the boot network",
        done_when="a node says this MAC, serial or UUID, or nobody asks under it for 30 days",
    )


def _twin(node: Planned, *, answers: bool) -> str:
    if answers:
        return (
            f"it says the UUID of {node.name}, which answers at {node.bmc} too: turn off the second address of that "
            f"BMC, or have the UUID of one of two boards corrected"
        )
    return (
        f"it says the UUID of {node.name}, which is expected at {node.bmc} in rack {node.rack}, position "
        f"{node.position}, and was not seen there: give its BMC that address again, and put the server back if it moved"
    )


def _check(gone: MissingNode) -> Instruction:
    node = gone.node
    what = (
        f"check that the server has power, that the cable in its BMC port has link, and that its BMC has the address "
        f"{node.bmc.host}"
    )
    if gone.elsewhere:
        addresses = ", ".join(str(one.address) for one in gone.elsewhere)
        what = f"a BMC with its UUID answers at {addresses}: see what to do there; else {what}"
    return Instruction(Owner.TECHNICIAN, where=node.place, what=what, done_when=f"a scan finds a BMC at {node.bmc}")
