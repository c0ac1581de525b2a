"""What the reconciler does about a node: level-triggered, the same for every worker, at any time."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.lifecycle.table import AT_REST, RULES
from provisioner.models.identifiers import OperationId, RunKey
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.operation import Run, RunStatus
from provisioner.reconciler.decide import (
    Cancel,
    CountAsFailed,
    HoldIt,
    LookAgain,
    Nothing,
    Start,
    current_key,
    decide,
)
from tests.pure.samples import N1, NOW, hold, node

ACTIVE = (RunStatus.QUEUED, RunStatus.RUNNING)
ENDED = (RunStatus.DONE, RunStatus.FAILED, RunStatus.CANCELLED)
AUTOMATIC = sorted(set(State) - AT_REST)


def run_of(operation: str, generation: int = 1, attempt: int = 1, status: RunStatus = RunStatus.RUNNING) -> Run:
    """One run of the node."""
    return Run(RunKey(operation, N1, generation, attempt).id, status, "slot-0", NOW, NOW)


def own_run(one: Node, status: RunStatus) -> Run:
    """The run that the node waits for."""
    key = current_key(one)
    assert key is not None
    return Run(key.id, status, "slot-0", NOW, NOW)


def concluded(run: Run, one: Node) -> bool:
    """The run may be the one that moved the node to where it is; only the engine has not noted its end."""
    key = RunKey.parse(run.id)
    origin = next(rule for rule in RULES.values() if rule.operation == key.operation)
    return one.hold is None and key.generation == one.generation and one.state in origin.to


def in_the_way(found: tuple[Run, ...], one: Node) -> list[Run]:
    """Active runs that the node does not wait for and that did not move it."""
    key = current_key(one)
    mine = key.id if key else None
    return [run for run in found if run.status in ACTIVE and run.id != mine and not concluded(run, one)]


moments = st.none() | st.integers(-60, 60).map(lambda minutes: NOW + timedelta(minutes=minutes))
nodes = st.builds(
    node,
    st.sampled_from(State),
    generation=st.integers(1, 2),
    attempt=st.integers(1, 3),
    failures=st.integers(0, 3),
    retry_at=moments,
    hold=st.none() | st.builds(hold, retry_at=moments),
)
runs = st.lists(
    st.builds(
        run_of,
        st.sampled_from(sorted(rule.operation for rule in RULES.values() if rule.operation)),
        st.integers(1, 2),
        st.integers(1, 3),
        st.sampled_from(RunStatus),
    ),
    max_size=3,
    unique_by=lambda run: run.id,
).map(tuple)
times = st.integers(-60, 60 * 24 * 12).map(lambda minutes: NOW + timedelta(minutes=minutes))


@given(nodes, runs, times)
def test_the_same_question_has_the_same_answer(one: Node, found: tuple[Run, ...], now: datetime) -> None:
    decision = decide(one, found, now)
    assert decide(one, found, now) == decision
    assert type(decide(one, found[::-1], now)) is type(decision)


@given(nodes, runs, times)
def test_nothing_starts_beside_another_run(one: Node, found: tuple[Run, ...], now: datetime) -> None:
    decision = decide(one, found, now)
    if isinstance(decision, Start):
        assert in_the_way(found, one) == []
        assert decision.key.id not in {run.id for run in found}


@given(nodes, runs)
def test_runs_that_the_node_does_not_wait_for_are_stopped_first(one: Node, found: tuple[Run, ...]) -> None:
    """After a moment in which they may end by themselves."""
    stale = in_the_way(found, one)
    decision = decide(one, found, NOW + timedelta(seconds=3))
    assert isinstance(decision, Cancel) == bool(stale)
    if isinstance(decision, Cancel):
        assert {run.id for run in stale} <= set(decision.runs)
    if stale:
        assert decide(one, found, NOW + timedelta(seconds=1)) == Nothing()


@given(nodes, runs)
def test_a_held_node_never_starts(one: Node, found: tuple[Run, ...]) -> None:
    if one.hold is not None:
        assert isinstance(decide(one, found, NOW), Nothing | Cancel | LookAgain)


@given(nodes)
def test_a_node_at_rest_is_left_alone(one: Node) -> None:
    if one.state in AT_REST and one.hold is None:
        assert decide(one, (), NOW) == Nothing()


@pytest.mark.parametrize("state", AUTOMATIC)
def test_the_id_follows_from_the_node_alone(state: State) -> None:
    """Every worker starts the same id, and the same id is the same run."""
    one = node(state, generation=3, attempt=2)
    expected = OperationId(f"{RULES[state].operation}/{N1}/g3/a2")
    decision = decide(one, (), NOW)
    assert isinstance(decision, Start)
    assert decision.key.id == expected
    assert RunKey.parse(decision.key.id) == decision.key
    assert decide(replace(one, failures=1, release=None), (), NOW + timedelta(days=9)) == decision


@pytest.mark.parametrize("state", AUTOMATIC)
@pytest.mark.parametrize("status", ACTIVE)
def test_its_own_run_is_left_to_work(state: State, status: RunStatus) -> None:
    one = node(state)
    assert decide(one, (own_run(one, status),), NOW) == Nothing()


@pytest.mark.parametrize("seconds", [-1, 0, 1])
def test_a_retry_waits_for_its_time(seconds: int) -> None:
    one = node(State.BOOTING, retry_at=NOW + timedelta(seconds=seconds), failures=1, attempt=2)
    assert isinstance(decide(one, (), NOW), Nothing if seconds > 0 else Start)


@pytest.mark.parametrize("seconds", [-1, 0, 1])
def test_a_hold_that_ends_by_itself_ends_at_its_time(seconds: int) -> None:
    one = node(State.HELD, hold=hold(retry_at=NOW + timedelta(seconds=seconds)), held_from=State.BOOTING)
    assert decide(one, (), NOW) == (Nothing() if seconds > 0 else LookAgain())


@pytest.mark.parametrize("status", ENDED)
@pytest.mark.parametrize("state", AUTOMATIC)
def test_a_run_that_ended_without_a_result_is_tried_again_and_then_held(state: State, status: RunStatus) -> None:
    """A fault of ours: nobody wrote what came of it. Three times, and a person is told."""
    one = node(state)
    decision = decide(one, (own_run(one, status),), NOW)
    assert isinstance(decision, CountAsFailed)
    assert decision.retry_at > NOW
    assert one.name in decision.reason
    worn = replace(one, failures=2)
    last = decide(worn, (own_run(worn, status),), NOW)
    assert isinstance(last, HoldIt)
    assert one.name in last.hold.instruction.what


@pytest.mark.parametrize("state", AUTOMATIC)
@pytest.mark.parametrize("pace", [1.0, 0.01])
def test_what_takes_too_long_is_held(state: State, pace: float) -> None:
    limit = RULES[state].limit
    assert limit is not None
    one = node(state)
    running = (own_run(one, RunStatus.RUNNING),)
    assert decide(one, running, NOW + limit * pace, pace) == Nothing()
    decision = decide(one, running, NOW + limit * pace + timedelta(seconds=1), pace)
    assert isinstance(decision, HoldIt)
    assert RULES[state].doing in decision.hold.reason
    told = decision.hold.instruction
    assert all([told.where, told.what, told.done_when])


def test_waiting_for_a_slot_of_the_rack_is_no_fault() -> None:
    one = node(State.UPDATING_FIRMWARE)
    assert decide(one, (own_run(one, RunStatus.QUEUED),), NOW + timedelta(days=2)) == Nothing()
