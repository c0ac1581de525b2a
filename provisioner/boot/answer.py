"""What does this node boot now? One answer for every boot protocol. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from provisioner.models.boot import BootTicket, Caller
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.secret import Secret

_INSTALLS = frozenset({State.BOOTING, State.BURNING_IN})
"""Only in these states is a node given an image: one in production or held never boots into a burn-in by accident."""


_NOBODY = Caller()


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. `key`: of the boot URI, where the asker has one.

    `image`: asked by the initrd of this image, for the words of its boot; None: firmware asks for a program.
    """

    key: Secret | None = None
    image: str | None = None
    caller: Caller = _NOBODY


@dataclass(frozen=True, slots=True)
class BootImage:
    """Boot this ticket's image."""

    ticket: BootTicket


@dataclass(frozen=True, slots=True)
class LeaveNetworkBoot:
    """Try the next boot device; `reason` goes into the boot script for whoever reads the console."""

    reason: str


@dataclass(frozen=True, slots=True)
class Discover:
    """Nobody expects this server: it is noted, and its console says how it is added."""

    caller: Caller


Answer = BootImage | LeaveNetworkBoot | Discover


def answer(question: Question, node: Node | None, latest: BootTicket | None) -> Answer:
    """`latest`: the node's newest ticket.

    Serving uses nothing up: the same question has the same answer until the node itself has reported, or has been
    served so often that it is seen to restart for ever.
    """
    if node is None:
        if question.key is not None:
            return LeaveNetworkBoot("this boot address is not known")
        return Discover(question.caller)
    against = next(_against_node(node), None)
    if against is None and latest is None:
        against = f"nothing to boot in state {node.state}"
    if against is None and latest is not None:
        against = next(_against_ticket(question, node, latest), None)
    if against is not None or latest is None:
        return LeaveNetworkBoot(against or "")
    return BootImage(latest)


def _against_node(node: Node) -> Iterator[str]:
    if node.hold is not None:
        yield f"held: {node.hold.reason}"
    if node.state not in _INSTALLS:
        yield f"nothing to boot in state {node.state}"


def _against_ticket(question: Question, node: Node, ticket: BootTicket) -> Iterator[str]:
    if question.key is not None and question.key != ticket.key:
        yield "a newer boot permission has replaced this one"
    if (ticket.generation, ticket.attempt) != (node.generation, node.attempt):
        yield "the boot permission of an earlier attempt has ended; a new one follows"
    if ticket.boot_id is not None:
        yield "this boot permission has been used; a new one follows"
    for failure in ticket.failures:
        if failure.is_final:
            yield f"its last boot failed ({failure.kind}): {failure.detail}"
    if question.image is not None and question.image != ticket.image:
        yield f"this boot program is of image {question.image[:19]}, and the node is to boot {ticket.image[:19]}"
    if question.image is None and ticket.served >= ticket.most_served:
        yield f"served {ticket.served} times, and nothing that was booted has reported; a person is asked to look"
