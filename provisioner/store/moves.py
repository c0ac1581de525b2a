"""What each move changes in a node's row. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.instruction import Hold
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.store.node_rows import hold_json

_BEFORE_INVENTORIED = (State.DISCOVERED, State.IDENTIFIED, State.SECURED)
_GONE = (State.DECOMMISSIONING, State.DECOMMISSIONED)


@dataclass(frozen=True, slots=True)
class Move:
    """New values for columns of `nodes`, and the state after it."""

    values: Mapping[str, Any]
    to: State


def advance(node: Node, visited: str, to: State, at: datetime) -> Move:
    """Into `to`, out of a hold too.

    The attempt never falls within a generation; it grows when `to` was visited in this generation already, so that
    no (state, generation, attempt), and so no operation id, ever comes twice.
    """
    values = {
        "state": to.value,
        "state_since": at,
        "attempt": _attempt(node, visited, to),
        "failures": 0,
        "retry_at": None,
        "hold": None,
        "held_from": None,
        "visited": _with(visited, to),
    }
    return Move(values, to)


def hold(node: Node, visited: str, why: Hold) -> Move:
    """Into `held`; a node that is held already keeps the state that it goes back to, and its time of being held."""
    values: dict[str, Any] = {"hold": hold_json(why), "retry_at": None}
    if node.state is not State.HELD:
        values |= {
            "state": State.HELD.value,
            "state_since": why.since,
            "attempt": _attempt(node, visited, State.HELD),
            "held_from": node.state.value,
            "visited": _with(visited, State.HELD),
        }
    return Move(values, State.HELD)


def let_go(node: Node, visited: str, at: datetime) -> Move | None:
    """Back to where it was held, with a new attempt; None when it is not held."""
    if node.held_from is None:
        return None
    return advance(node, f"{visited} {node.held_from.value}", node.held_from, at)


def failed(node: Node, retry_at: datetime) -> Move:
    """The same state with a new attempt."""
    return Move({"attempt": node.attempt + 1, "failures": node.failures + 1, "retry_at": retry_at}, node.state)


def desire(node: Node, release: ReleaseDigest, at: datetime) -> Move | None:
    """A new generation: back to `inventoried` if past it; a hold stays, for the reason does. None when it is gone."""
    if node.state in _GONE or node.held_from in _GONE:
        return None
    values: dict[str, Any] = {
        "generation": node.generation + 1,
        "attempt": 1,
        "failures": 0,
        "retry_at": None,
        "release": release,
    }
    if node.held_from is not None:
        back_to = _at_most_inventoried(node.held_from)
        return Move({**values, "held_from": back_to.value, "visited": node.state.value}, node.state)
    to = _at_most_inventoried(node.state)
    since = node.state_since if to is node.state else at
    return Move({**values, "state": to.value, "state_since": since, "visited": to.value}, to)


def _attempt(node: Node, visited: str, to: State) -> int:
    return node.attempt + 1 if to.value in visited.split() else node.attempt


def _at_most_inventoried(state: State) -> State:
    return state if state in _BEFORE_INVENTORIED else State.INVENTORIED


def _with(visited: str, state: State) -> str:
    known = visited.split()
    return visited if state.value in known else " ".join([*known, state.value])
