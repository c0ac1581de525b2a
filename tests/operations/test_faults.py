"""Servers that misbehave, at any moment: the node gets ready by itself, or is held with something to do."""

from hypothesis import given
from hypothesis import strategies as st

from provisioner.models.boot import FailureKind
from tests.operations.bounded import bounded
from tests.operations.invariants import assert_ended, assert_ready, assert_safe
from tests.operations.server_faults import Faults
from tests.operations.site import Site, server

WRITES = 16
"""A healthy server is written to so often."""
SECONDS = 4800
"""A healthy run takes about so long."""

write = st.tuples(st.integers(0, WRITES - 1), st.booleans())
moment = st.integers(0, SECONDS)


def recovers(faults: Faults, crashes: set[int] | None = None) -> None:
    """Ready by itself, and nothing was done twice."""
    one = server(faults=faults)
    site = Site([one], crashes or ())
    (node,) = site.run()
    assert_ended(site, one, node)
    assert_ready(site, one, node)


@bounded(50)
@given(st.lists(write, min_size=1, max_size=2).map(tuple))
def test_answers_that_never_come(lost: tuple[tuple[int, bool], ...]) -> None:
    """`AnswerLost`: the BMC may have acted. The state is read back."""
    recovers(Faults(lost=lost))


@bounded(30)
@given(st.lists(st.tuples(moment, st.integers(10, 7200)), min_size=1, max_size=2).map(tuple))
def test_a_bmc_that_is_away_for_a_while(away: tuple[tuple[int, int], ...]) -> None:
    """A held node looks again by itself: whoever pushed the cable in need not tell us."""
    recovers(Faults(away=away))


@bounded(30)
@given(st.lists(moment, min_size=1, max_size=2).map(tuple))
def test_a_bmc_that_restarts_during_anything(bmc_resets: tuple[int, ...]) -> None:
    """Sessions and tasks are gone, a flash is lost, and for a while half of the inventory is missing."""
    recovers(Faults(bmc_resets=bmc_resets))


@bounded(30)
@given(st.integers(1, 260), st.booleans())
def test_a_task_that_vanishes_at_any_look(poll: int, hides: bool) -> None:
    """ironcore-dev/metal-operator#617: 404 for a task that went on or succeeded. The running version decides."""
    recovers(Faults(vanishing_poll=poll, hides_tasks=hides))


@bounded(25)
@given(st.integers(0, 4), st.lists(write, max_size=1).map(tuple))
def test_a_flash_that_fails_once(failing_task: int, lost: tuple[tuple[int, bool], ...]) -> None:
    """The failed task stays in the BMC's list, before the new one, and is not taken for it."""
    recovers(Faults(failing_task=failing_task, lost=lost))


@bounded(30)
@given(st.lists(st.integers(0, 700), min_size=1, max_size=2).map(tuple))
def test_power_that_goes_while_it_boots_or_burns_in(power_losses: tuple[int, ...]) -> None:
    """The host stays off when power comes back; nobody has to switch it on."""
    recovers(Faults(power_losses=power_losses))


@bounded(25)
@given(st.sampled_from(["fetch", "network"]), st.integers(1, 2), st.lists(write, max_size=2).map(tuple))
def test_a_network_that_comes_back(kind: str, boots_ill: int, lost: tuple[tuple[int, bool], ...]) -> None:
    """The next try finds it, whatever else goes wrong between."""
    recovers(Faults(initrd=(kind, "no route to host"), boots_ill=boots_ill, lost=lost))


@bounded(50)
@given(
    st.builds(
        Faults,
        lost=st.lists(write, max_size=3).map(tuple),
        away=st.lists(st.tuples(moment, st.integers(10, 4000)), max_size=2).map(tuple),
        bmc_resets=st.lists(moment, max_size=2).map(tuple),
        power_losses=st.lists(st.integers(0, 700), max_size=2).map(tuple),
        vanishing_poll=st.none() | st.integers(1, 260),
        failing_task=st.none() | st.integers(0, 4),
        hides_tasks=st.booleans(),
        agent=st.sampled_from(["well", "well", "well", "refused", "never", "silent", "wrong"]),
        refuses_boot=st.sets(st.sampled_from(["UefiHttp", "UefiHttp", "Pxe"])).map(frozenset),
        initrd=st.none() | st.tuples(st.sampled_from([*FailureKind]), st.just("why")),
        boots_ill=st.integers(0, 3),
        asks=st.sampled_from([True, True, True, False]),
        failing_item=st.sampled_from([None, None, "memory"]),
    ),
    st.sets(st.integers(1, 200), max_size=3),
)
def test_everything_at_once(faults: Faults, crashes: set[int]) -> None:
    """Ready or held, never stuck, never unsafe."""
    one = server(faults=faults)
    site = Site([one], crashes)
    (node,) = site.run()
    assert_ended(site, one, node)


@bounded(10)
@given(st.integers(60, 1500), st.sets(st.integers(1, 170), max_size=1))
def test_nothing_is_flashed_or_reset_while_a_slot_is_copied(seconds: int, crashes: set[int]) -> None:
    """A board that loses power while it writes its second slot may have none that starts."""
    one = server(faults=Faults(copies_seconds=float(seconds)))
    site = Site([one], crashes)
    (node,) = site.run()
    assert_safe(site, one)
    assert_ready(site, one, node)
    assert set(one.flashed.values()) == {1}
