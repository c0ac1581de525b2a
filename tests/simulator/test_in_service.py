"""Nodes that break after they were given back: a release that is to blame, fuses that are not, and the way back."""

from dataclasses import replace

import pytest

from provisioner.simulator.result import Outcome
from provisioner.simulator.run import simulate
from provisioner.simulator.scenario import Scenario

CALM = Scenario(nodes=3_600, base_failure=0.0, boot_failure=0.0)


@pytest.mark.parametrize("seed", range(3))
def test_a_release_that_fails_in_service_is_stopped_within_its_canaries(seed: int) -> None:
    """It reached 61 % of the nodes once, and only the floor held it up: its nodes had all passed their check."""
    result = simulate(replace(CALM, nodes=10_000, late_defects=0.15, seed=seed))
    assert (result.outcome, result.on_new) == (Outcome.RETURNED, 0)
    assert result.ran_new <= 100
    assert "of 90 nodes failed, and 0 of 9910 of its control group" in result.why


def test_outages_of_power_hide_no_defect() -> None:
    """Three domains of 144 nodes each fail meanwhile: three failures of the control group, and not 432."""
    result = simulate(replace(CALM, late_defects=0.1, power_loss=3, fault_hours=1.5, seed=2))
    assert (result.outcome, result.ran_new) == (Outcome.RETURNED, 90)
    assert result.lowest_serving < 3_600 - 3 * 144 + 18
    assert "7 of 90 nodes failed, and 3 of 3510 of its control group" in result.why


@pytest.mark.parametrize("seed", [1, 2])
def test_outages_of_power_condemn_no_release(seed: int) -> None:
    """They hit nodes of closed waves among others: each is one failure."""
    result = simulate(Scenario(nodes=3_600, power_loss=3, seed=seed))
    assert result.outcome is Outcome.COMPLETE
    assert result.lowest_serving < 3_300


def test_a_return_that_its_own_quarantine_leaves_no_room_for_ends_and_says_so() -> None:
    """One unit of 18 nodes may be out, and some of the first one that came back work on neither release."""
    result = simulate(replace(CALM, nodes=180, canaries=3, late_defects=0.2, base_failure=0.05, seed=2))
    assert (result.outcome, result.on_new) == (Outcome.NEEDS_HUMAN, 18)
    assert "1 units of simulated still run the new release, and none may leave service" in result.why
    assert "put them right, then return it again; in quarantine: " in result.why


def test_a_return_that_waits_says_for_what() -> None:
    """Nodes that the release has broken in service are out as well: what is left of their units may not leave it."""
    result = simulate(replace(CALM, nodes=180, canaries=3, late_defects=0.2, base_failure=0.05, seed=0, max_days=1))
    assert result.outcome is Outcome.WAITING
    assert "the return waits: 2 units of simulated still run the new release, and none may leave service" in result.why
    assert "out of service are d00001-04" in result.why


def test_a_unit_comes_back_without_the_nodes_that_work_on_neither_release_and_leaves_none_on_the_new_one() -> None:
    result = simulate(replace(CALM, defect_rate=0.15, base_failure=0.03))
    assert result.outcome is Outcome.NEEDS_HUMAN
    assert result.on_new == 0
    assert 0 < result.quarantined < 18
    assert "in quarantine: d" in result.why


def test_what_went_short_of_bad_nodes_takes_them_along_on_its_way_back() -> None:
    """They stayed on the new release, cordoned, although they work on the old one."""
    result = simulate(replace(CALM, defect_rate=0.3))
    assert (result.outcome, result.on_new, result.quarantined) == (Outcome.RETURNED, 0, 0)
    assert result.curve[-1].serving == 3_600
