"""Which nodes a campaign may take. Pure."""

from provisioner.lifecycle.table import RULES
from provisioner.models.lifecycle import State
from provisioner.models.node import Node


def reason_not_to_take(node: Node, hardware_class: str) -> str | None:
    """Why a campaign leaves the node alone; None for one that nobody uses and that is whole."""
    if node.hold is not None:
        return f"held: {node.hold.reason}"
    if node.hardware_class != hardware_class:
        return f"its hardware class is {node.hardware_class or 'not known'}"
    if node.state is State.READY:
        return None
    if RULES[node.state].operation is not None:
        return f"busy: {RULES[node.state].doing}"
    return node.state.value.replace("_", " ")


def on_its_way(node: Node) -> bool:
    """Firstlight works at it; it is not held."""
    return node.hold is None and RULES[node.state].operation is not None
