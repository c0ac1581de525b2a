"""What it means that something answers at an address; pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from provisioner.models.inventory import Identity
from provisioner.models.node import BmcAddress, ExpectedNode


class Meaning(StrEnum):
    """How a BMC that was found relates to the plan."""

    EXPECTED = "expected"
    UNEXPECTED = "unexpected"
    """It answers as a BMC where the plan has none: a server in the wrong place, or one that nobody planned."""


@dataclass(frozen=True, slots=True)
class Found:
    """A BMC that answered. `node` is the one that the plan has at this address."""

    address: BmcAddress
    identity: Identity
    meaning: Meaning
    node: ExpectedNode | None


def judge_found(address: BmcAddress, identity: Identity, plan: Iterable[ExpectedNode]) -> Found:
    """Compare one answer with the plan. The port does not matter where the plan names another one for the host."""
    nodes = list(plan)
    node = next((one for one in nodes if one.bmc == address), None)
    node = node or next((one for one in nodes if one.bmc.host == address.host), None)
    return Found(address, identity, Meaning.EXPECTED if node else Meaning.UNEXPECTED, node)


def missing(found: Iterable[Found], plan: Iterable[ExpectedNode]) -> tuple[ExpectedNode, ...]:
    """What the plan has and nobody answered for, in the order of the plan."""
    answered = {one.node.name for one in found if one.node}
    return tuple(node for node in plan if node.name not in answered)
