"""The lifecycle table is whole: no state is lost, no automatic state is without an owner, a limit and a way on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.lifecycle.table import AT_REST, HOLDABLE, RULES, TABLE, may_move, remaining
from provisioner.models.instruction import Owner
from provisioner.models.lifecycle import State
from provisioner.operations.registry import OPERATIONS

AUTOMATIC = [rule for rule in TABLE if rule.operation is not None]


def reachable(start: State) -> set[State]:
    """Every state that may be reached, holds included."""
    seen, new = {start}, [start]
    while new:
        state = new.pop()
        for to in set(State) - seen:
            if may_move(state, to):
                seen.add(to)
                new.append(to)
    return seen


def test_every_state_has_one_rule_and_can_be_reached() -> None:
    assert [rule.state for rule in TABLE] == list(State)
    assert reachable(State.DISCOVERED) == set(State)


@pytest.mark.parametrize("rule", AUTOMATIC, ids=lambda rule: rule.state)
def test_an_automatic_state_has_all_that_people_are_shown(rule: object) -> None:
    found = next(one for one in AUTOMATIC if one is rule)
    assert found.owner is Owner.FIRSTLIGHT
    assert found.limit is not None
    assert found.expected is not None
    assert found.expected < found.limit
    assert found.doing
    assert found.to
    assert found.operation in OPERATIONS


def test_every_operation_belongs_to_one_state() -> None:
    assert sorted(rule.operation or "" for rule in AUTOMATIC) == sorted(OPERATIONS)


def test_success_leads_from_discovered_to_ready() -> None:
    way = [State.DISCOVERED]
    while RULES[way[-1]].operation is not None:
        way.append(RULES[way[-1]].to[0])
    assert way == [rule.state for rule in AUTOMATIC] + [State.READY]
    assert set(State) - {rule.state for rule in AUTOMATIC} == AT_REST


def test_a_hold_leads_back_to_where_it_came_from() -> None:
    for state in State:
        assert may_move(state, State.HELD) == (state in HOLDABLE)
        if state in HOLDABLE:
            assert may_move(State.HELD, state)
    assert not may_move(State.HELD, State.HELD)
    assert not may_move(State.HELD, State.DECOMMISSIONED)


def test_nothing_leaves_decommissioned() -> None:
    assert not any(may_move(State.DECOMMISSIONED, to) for to in State)


@given(st.sampled_from(AUTOMATIC))
def test_the_way_gets_shorter_with_every_state(rule: object) -> None:
    found = next(one for one in AUTOMATIC if one is rule)
    assert remaining(found.state) > remaining(found.to[0])
    assert not remaining(State.READY)
