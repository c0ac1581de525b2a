"""The process dies, anywhere and again, and goes on from what it had recorded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.operations.bounded import bounded
from tests.operations.invariants import assert_ended, assert_ready
from tests.operations.site import Site, server
from tests.operations.test_healthy import way_to_ready

MOMENTS = 160
"""A healthy run asks about as often whether to crash: before and after the body of every step."""


def moments() -> st.SearchStrategy[set[int]]:
    """When the process dies."""
    return st.sets(st.integers(1, MOMENTS), min_size=1, max_size=3)


@bounded(60)
@given(moments())
def test_a_node_gets_ready_whenever_the_process_dies(crashes: set[int]) -> None:
    """Steps are at-least-once: a body may run twice, and nothing is done twice to the server."""
    one = server()
    site = Site([one], crashes)
    (node,) = site.run()
    assert_ended(site, one, node)
    assert_ready(site, one, node)
    assert site.path_of(one.name) == way_to_ready()
    assert set(one.flashed.values()) == {1}
    assert site.runs.started == [f"{run}/{one.name}/g1/a1" for run in _operations()]


@bounded(15)
@given(moments())
def test_no_node_of_a_rack_is_skipped(crashes: set[int]) -> None:
    """A crash stops the runs of all nodes at once."""
    servers = [server(f"r01-u{number:02}") for number in range(1, 4)]
    site = Site(servers, {3 * moment for moment in crashes})
    for one, node in zip(servers, site.run(), strict=True):
        assert_ended(site, one, node)
        assert_ready(site, one, node)
        assert set(one.flashed.values()) == {1}


@pytest.mark.parametrize("reconcilers", [1, 2, 3])
def test_reconcilers_over_one_engine_start_nothing_twice(reconcilers: int) -> None:
    """There is no leader: every worker reconciles, and the same key is the same run."""
    servers = [server(f"r01-u{number:02}") for number in range(1, 4)]
    site = Site(servers, reconcilers=reconcilers)
    for one, node in zip(servers, site.run(), strict=True):
        assert_ready(site, one, node)
        assert_ended(site, one, node)
    assert len(site.runs.started) == len(set(site.runs.started)) == len(_operations()) * len(servers)


@bounded(15)
@given(moments())
def test_two_reconcilers_agree_after_crashes(crashes: set[int]) -> None:
    """A crash between the intent to flash and the request costs a try, for nobody knows that it was not sent."""
    servers = [server(f"r01-u{number:02}") for number in range(1, 4)]
    site = Site(servers, crashes, reconcilers=2)
    for one, node in zip(servers, site.run(), strict=True):
        assert_ended(site, one, node)
        assert_ready(site, one, node)


def _operations() -> list[str]:
    return ["identify", "secure", "inventory", "assign", "update_firmware", "configure_bios", "boot", "burn_in"]
