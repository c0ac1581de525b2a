"""What does this node boot now? One answer for every boot protocol. Pure."""

from dataclasses import dataclass

from provisioner.models.boot import BootTicket
from provisioner.models.lifecycle import State
from provisioner.models.node import Node

_INSTALLS = frozenset({State.BOOTING, State.BURNING_IN})
"""Only in these states is a node given an image: one in production or held never boots into a burn-in by accident."""


@dataclass(frozen=True, slots=True)
class BootImage:
    """Boot this ticket's image."""

    ticket: BootTicket


@dataclass(frozen=True, slots=True)
class LeaveNetworkBoot:
    """Try the next boot device; `reason` goes into the boot script for whoever reads the console."""

    reason: str


def answer(node: Node | None, ticket: BootTicket | None) -> BootImage | LeaveNetworkBoot:
    """Serving uses nothing up: the same question has the same answer until the node itself has reported."""
    if node is None:
        return LeaveNetworkBoot("this server is not on the expected list")
    if node.hold is not None:
        return LeaveNetworkBoot(f"held: {node.hold.reason}")
    if node.state not in _INSTALLS or ticket is None:
        return LeaveNetworkBoot(f"nothing to boot in state {node.state}")
    if (ticket.generation, ticket.attempt) != (node.generation, node.attempt):
        return LeaveNetworkBoot("the boot permission of an earlier attempt has ended; a new one follows")
    if ticket.boot_id is not None:
        return LeaveNetworkBoot("this boot permission has been used; a new one follows")
    return BootImage(ticket)
