"""Campaigns and their nodes, small."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from provisioner.models.campaign import Campaign, CampaignLimits, Member
from provisioner.models.identifiers import NodeName, RackName, ReleaseDigest
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress, Node

NOW = datetime(2030, 1, 1, 12, tzinfo=UTC)
OLD, NEW = ReleaseDigest("sha256:old"), ReleaseDigest("sha256:new")
HARDWARE = "hgx-h100-8gpu"


def name_of(rack: int, position: int) -> NodeName:
    """Such as r01-u01."""
    return NodeName(f"r{rack:02}-u{position:02}")


def ready_nodes(racks: int, trays: int, **fields: Any) -> dict[NodeName, Node]:
    """Whole ones that nobody uses, with the old release."""
    found = {}
    for rack in range(1, racks + 1):
        for position in range(1, trays + 1):
            name = name_of(rack, position)
            bmc = BmcAddress(f"10.0.{rack}.{position}")
            given = {"hardware_class": HARDWARE, "release": OLD, **fields}
            found[name] = Node(name, RackName(f"r{rack:02}"), position, bmc, State.READY, NOW, **given)
    return found


def campaign_of(nodes: Mapping[NodeName, Node], **fields: Any) -> Campaign:
    """One over all of these nodes."""
    members = tuple(Member(one.name, one.rack) for one in nodes.values())
    return Campaign(
        **{
            "name": "spring",
            "release": "hgx-h100-2025-2",
            "digest": NEW,
            "hardware_class": HARDWARE,
            "limits": CampaignLimits(),
            "ready_within": timedelta(hours=4),
            "who": "ann",
            "started_at": NOW,
            "members": members,
            **fields,
        }
    )


def moved(node: Node) -> Node:
    """As `Nodes.desire` leaves it."""
    return replace(node, release=NEW, generation=node.generation + 1, state=State.INVENTORIED, attempt=1)


def held(node: Node, reason: str = "its boot failed") -> Node:
    """Waits for a person."""
    instruction = Instruction(Owner.TECHNICIAN, node.place, "mend it", "it is mended")
    return replace(node, state=State.HELD, held_from=node.state, hold=Hold(reason, instruction, NOW))


def changed(nodes: Mapping[NodeName, Node], *others: Node) -> dict[NodeName, Node]:
    """The same, with these in their places."""
    return {**nodes, **{one.name: one for one in others}}


def names(found: Sequence[object]) -> list[str]:
    """Kinds of intents with their nodes, for short assertions."""
    return [f"{type(one).__name__} {getattr(one, 'node', '')}".strip() for one in found]
