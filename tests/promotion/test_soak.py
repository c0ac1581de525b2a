"""A soak is as long as nodes were seen, whatever clocks and workers do (no soak ends early)."""

from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.promotion.policy import DEFAULTS
from provisioner.promotion.soak import LONGEST, Soak, grown, is_enough, seen_running
from tests.campaigns.samples import ready_nodes
from tests.promotion.samples import NOW

SECOND = timedelta(seconds=1)
IMAGE = "sha256:" + "a" * 64

looks = st.lists(
    st.tuples(
        st.integers(0, 3),  # which worker looks
        st.floats(0, 600),  # real seconds since the look before it
        st.sampled_from((0, 0, 0, 0, 3600, -3600, 86_400)),  # seconds by which somebody sets the wall clock before
    ),
    max_size=60,
)


@given(looks)
def test_clocks_that_jump_and_workers_that_come_and_go_end_no_soak_early(looks: list[tuple[int, float, int]]) -> None:
    """What is counted is never more than what went by, but for one step after each jump ahead."""
    real, offset, counted, jumps = timedelta(0), timedelta(0), timedelta(0), 0
    turn: datetime | None = None
    last: dict[int, timedelta] = {}
    for worker, seconds, jump in looks:
        real += seconds * SECOND
        offset += jump * SECOND
        jumps += jump > 0
        now = NOW + real + offset
        step = grown(turn, now, real - last[worker] if worker in last else timedelta(0))
        assert timedelta(0) <= step <= LONGEST
        counted, turn, last[worker] = counted + step, now, real
    assert counted <= real + jumps * LONGEST


@given(st.integers(1, 4), st.integers(10, 60))
def test_with_steady_clocks_nothing_is_lost(workers: int, looks: int) -> None:
    """Any number of workers that look each minute count what went by, but for the first look of each."""
    counted, turn = timedelta(0), None
    last: dict[int, timedelta] = {}
    period = timedelta(minutes=1) / workers
    for number in range(looks):
        real, worker = number * period, number % workers
        step = grown(turn, NOW + real, real - last[worker] if worker in last else timedelta(0))
        counted, turn, last[worker] = counted + step, NOW + real, real
    assert counted == max(0, looks - workers) * period


def node(**fields: object) -> Node:
    (one,) = ready_nodes(1, 1, release=ReleaseDigest("sha256:new"), **{"observed_image": IMAGE, **fields}).values()
    return one


def test_only_what_was_seen_in_service_with_this_image_counts() -> None:
    seen = seen_running(node(), IMAGE)
    assert seen is not None
    assert (seen.release, seen.domain) == ("sha256:new", "r01")
    assert seen_running(node(observed_image="sha256:other"), IMAGE) is None
    assert seen_running(node(observed_image=None), IMAGE) is None
    for state in set(State) - {State.READY, State.IN_PRODUCTION}:
        assert seen_running(replace(node(), state=state), IMAGE) is None


def test_what_no_channel_asks_more_of_is_counted_no_longer() -> None:
    policies = tuple(DEFAULTS.values())
    assert is_enough(Soak(24, 100, 2, 2), policies)
    assert not is_enough(Soak(24, 99, 2, 2), policies)
    assert not is_enough(Soak(24, 100, 1, 2), policies)
