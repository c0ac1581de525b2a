"""Nodes to test with."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.node import BmcAddress, ExpectedNode, Node
from provisioner.store.opening import Store

START = datetime(2026, 11, 30, 12, 0, 0, 123456, tzinfo=UTC)
N1 = NodeName("r01-u01")
N2 = NodeName("r01-u02")


def minutes(count: float) -> datetime:
    """Return a moment after START."""
    return START + timedelta(minutes=count)


def expected(count: int) -> Sequence[ExpectedNode]:
    """Return the first `count` lines of a plan with 16 trays a rack."""
    places = [(index // 16 + 1, index % 16 + 1) for index in range(count)]
    return [
        ExpectedNode(
            name=NodeName(f"r{rack:02}-u{position:02}"),
            rack=RackName(f"r{rack:02}"),
            position=position,
            bmc=BmcAddress(f"127.20.{rack % 250}.{position}", 8443),
            serial=f"S{rack}-{position}",
        )
        for rack, position in places
    ]


async def add_nodes(store: Store, count: int = 2) -> Node:
    """Put the first `count` nodes into the store; the first one, N1."""
    await store.nodes.expect(expected(count), START)
    return await store.nodes.get(N1)


def a_hold(reason: str = "no firmware package") -> Hold:
    """Return a hold that an operator ends."""
    instruction = Instruction(Owner.OPERATOR, "rack r01, position 1", "Add the package", "it is in the store", "BMC")
    return Hold(reason, instruction, minutes(5), retry_at=minutes(65))
