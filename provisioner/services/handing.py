"""Nodes into production, and out of it."""

from provisioner.capabilities.rollouts import Turns
from provisioner.capabilities.world import World
from provisioner.errors import Conflict
from provisioner.models.audit import AuditEntry
from provisioner.models.identifiers import NodeName
from provisioner.models.lifecycle import State
from provisioner.models.node import Node

_HANDED_OVER_FROM = frozenset({State.READY, State.MAINTENANCE})


async def hand_over(world: World, turns: Turns, name: NodeName, who: str, *, request: str = "") -> Node:
    """Into production. Asked again, it changes nothing. Raises `NotFound`, `Conflict` with why it cannot be."""
    node = await world.nodes.get(name)
    if node.state is State.IN_PRODUCTION:
        return node
    if node.state not in _HANDED_OVER_FROM:
        raise Conflict(f"{name} is {_word(node)}: only what is ready, or comes back from maintenance, is handed over")
    await refuse_in_hand(turns, name)
    return await _move(world, node, State.IN_PRODUCTION, who, "node.hand-over", request)


async def take_back(world: World, turns: Turns, name: NodeName, who: str, *, request: str = "") -> Node:
    """Out of production, for work on it. Asked again, it changes nothing. Raises `NotFound`, `Conflict`."""
    node = await world.nodes.get(name)
    if node.state is State.MAINTENANCE:
        return node
    if node.state is not State.IN_PRODUCTION:
        raise Conflict(f"{name} is {_word(node)}: only what is in production is taken out of it")
    await refuse_in_hand(turns, name)
    return await _move(world, node, State.MAINTENANCE, who, "node.take-back", request)


async def refuse_in_hand(turns: Turns, name: NodeName) -> None:
    """Raises `Conflict` for a node that a rollout has."""
    turn = (await turns.of([name])).get(name)
    if turn is not None and turn.holder is not None:
        raise Conflict(f"{name} is in hand of rollout {turn.holder}: let that end, or pause it and wait")


async def _move(world: World, node: Node, to: State, who: str, what: str, request: str) -> Node:
    now = world.clock.now()
    audit = AuditEntry(now, who, what, node.name, request=request)
    reason = f"{who} says so ({what.removeprefix('node.')})"
    if not await world.nodes.advance(node, to, reason, now, audit=audit):
        raise Conflict(f"{node.name} has moved on meanwhile: look again")
    return await world.nodes.get(node.name)


def _word(node: Node) -> str:
    return node.state.value.replace("_", " ")
