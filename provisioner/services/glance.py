"""A node at a glance: one line, for lists and live views."""

from dataclasses import dataclass
from datetime import timedelta

from provisioner.capabilities.clock import Clock
from provisioner.lifecycle.table import RULES, remaining
from provisioner.models.instruction import Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.operation import Progress


@dataclass(frozen=True, slots=True)
class Glance:
    """One node in one line."""

    node: Node
    doing: str
    """What goes on, or for a held node why it waits."""
    owner: Owner
    percent: float | None
    """Of what goes on; None where nobody knows."""
    way: float
    """How much of the way to ready lies behind it, 0 to 1."""
    left: timedelta | None
    """Real time until ready, as far as one can tell; None where it rests or waits for a person."""


def glance(node: Node, progress: Progress | None, clock: Clock) -> Glance:
    """`progress` is the node's last. Pure, but for the time."""
    rule = RULES[node.state]
    current = progress if progress is not None and rule.operation == progress.operation else None
    doing = current.doing if current else rule.doing
    percent = current.percent if current else None
    spent = clock.now() - node.state_since
    return Glance(
        node=node,
        doing=node.hold.reason if node.hold else doing,
        owner=node.hold.instruction.owner if node.hold else rule.owner,
        percent=percent,
        way=_way(node.held_from or node.state, _within(node.state, percent, spent, clock)),
        left=_left(node.state, spent, clock) if rule.operation else None,
    )


def _within(state: State, percent: float | None, spent: timedelta, clock: Clock) -> float:
    """How much of this state is done; by the clock, and then never quite all, where nothing better is known."""
    expected = RULES[state].expected
    if percent is not None:
        return percent / 100
    if expected is None:
        return 0.0
    return min(0.9, max(0.0, spent.total_seconds() / clock.wall(expected)))


def _way(state: State, within: float) -> float:
    rule, whole = RULES[state], remaining(State.DISCOVERED)
    if rule.operation is None:
        return 1.0
    after = remaining(rule.to[0])
    return 1 - (after + (remaining(state) - after) * (1 - within)) / whole


def _left(state: State, spent: timedelta, clock: Clock) -> timedelta:
    after = remaining(RULES[state].to[0])
    here = max(0.0, clock.wall(remaining(state) - after) - spent.total_seconds())
    return timedelta(seconds=here + (clock.wall(after) if after else 0.0))
