"""An operation id is never used for two runs."""

from collections.abc import Awaitable, Callable
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provisioner.errors import Conflict
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.node import ExpectedNode, Node
from provisioner.store.opening import Store
from tests.store.nodes import START, a_hold, expected, minutes

Move = Callable[[Store, Node], Awaitable[object]]
NAMES = count()


def advance_to(state: State) -> Move:
    return lambda store, node: store.nodes.advance(node, state, "next", START)


async def want_another_release(store: Store, node: Node) -> object:
    try:
        return await store.nodes.desire(node.name, ReleaseDigest("sha256:2"), "newer", START)
    except Conflict:
        return False


MOVES: list[Move] = [
    *(advance_to(state) for state in (State.INVENTORIED, State.BOOTING, State.BURNING_IN, State.DECOMMISSIONING)),
    lambda store, node: store.nodes.hold(node, a_hold()),
    lambda store, node: store.nodes.let_go(node, "done", START),
    lambda store, node: store.nodes.failed(node, "no answer", START, minutes(1)),
    want_another_release,
]


async def fresh_node(store: Store) -> Node:
    plan = expected(1)[0]
    name = NodeName(f"n{next(NAMES)}")
    await store.nodes.expect([ExpectedNode(name, plan.rack, plan.position, plan.bmc)], START)
    return await store.nodes.get(name)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.sampled_from(MOVES), max_size=14))
async def test_what_was_left_never_comes_again(store: Store, moves: list[Move]) -> None:
    """A finished id never runs again: the engine would answer with the result of the first run."""
    node = await fresh_node(store)
    left: set[tuple[State, int, int]] = set()
    for move in moves:
        await move(store, node)
        before, node = node, await store.nodes.get(node.name)
        if run_of(node) != run_of(before):
            left.add(run_of(before))
        assert run_of(node) not in left
        assert (node.generation, node.attempt) >= (before.generation, before.attempt)


def run_of(node: Node) -> tuple[State, int, int]:
    """Return what an operation id is made of, apart from the name."""
    return node.state, node.generation, node.attempt


async def test_a_node_that_goes_forward_keeps_its_attempt_and_one_that_comes_back_does_not(store: Store) -> None:
    node = await fresh_node(store)
    attempts = []
    for state in (State.BOOTING, State.BURNING_IN, State.BOOTING, State.BURNING_IN):
        await store.nodes.advance(node, state, "next", START)
        node = await store.nodes.get(node.name)
        attempts.append(node.attempt)
    assert attempts == [1, 1, 2, 3]
