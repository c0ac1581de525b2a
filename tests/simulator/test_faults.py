"""Each kind of fault of the simulated world by itself. Whatever breaks a promise raises, with the seed and the time."""

from dataclasses import replace

import pytest

from provisioner.simulator.many import simulate_many
from provisioner.simulator.result import Outcome
from provisioner.simulator.run import simulate
from provisioner.simulator.scenario import Scenario

CALM = Scenario(nodes=1_800, base_failure=0.0, boot_failure=0.0)
ENDS = {Outcome.COMPLETE, Outcome.RETURNED, Outcome.NEEDS_HUMAN}


def test_resets_from_which_nothing_comes_up_are_tried_again() -> None:
    """warewulf/warewulf#1666: about one node in ten fails in a mass reboot."""
    result = simulate(replace(CALM, boot_failure=0.1))
    assert result.outcome is Outcome.COMPLETE
    assert result.on_new >= 1_790
    assert 1_900 < result.resets < 2_300
    assert 2 <= result.most_resets <= 6, "three of one attempt to move it, forth and back"


def test_nodes_that_break_anyway_end_in_quarantine() -> None:
    result = simulate(replace(CALM, base_failure=0.03, seed=4))
    assert result.quarantined > 20
    assert result.first_defect is None, "the release is not to blame"


def test_a_power_domain_that_fails_takes_its_nodes_out_and_they_come_back() -> None:
    summary = simulate_many(replace(CALM, power_loss=2), 10)
    assert summary.lowest_share < 0.9, "144 nodes at once"
    result = simulate(replace(CALM, power_loss=1, fault_hours=0.3))
    assert result.outcome in ENDS
    assert result.lowest_serving <= 1_800 - 7 * 18
    assert result.curve[-1].serving == 1_800 - result.quarantined


def test_lost_power_under_a_node_that_is_watched_stops_the_rollout() -> None:
    """A unit that is lost to management is a stop, whatever the cause."""
    results = [simulate(replace(CALM, power_loss=3, seed=seed)) for seed in range(5)]
    assert any("its BMC is lost" in result.why and result.stopped is not None for result in results)


def test_silence_of_a_leaf_domain_stops_the_rollout_or_is_over_before() -> None:
    """Missing is not good."""
    results = [simulate(replace(CALM, lost_telemetry=2, seed=seed)) for seed in range(12)]
    assert {result.outcome for result in results} <= ENDS
    silent = [result for result in results if "nothing was heard of it" in result.why]
    assert silent
    assert all(result.on_new == result.quarantined for result in silent)


def test_clock_jumps_change_neither_the_end_nor_the_soaks() -> None:
    """I19."""
    calm = simulate(CALM)
    jumped = simulate(replace(CALM, clock_jumps=20))
    assert (jumped.outcome, jumped.on_new, jumped.resets) == (Outcome.COMPLETE, 1_800, calm.resets)
    assert jumped.seconds >= calm.seconds - 20 * 300
    for wave in jumped.waves:
        assert wave.closed is not None
        assert wave.closed - wave.opened > 3600 - 20 * 300 / 5


@pytest.mark.parametrize("seed", range(6))
def test_controllers_that_die_change_nothing_about_the_end(seed: int) -> None:
    """I8, I9: another epoch takes over; what the dead one had asked for arrives late and is refused."""
    calm = simulate(replace(CALM, seed=seed))
    killed = simulate(replace(CALM, seed=seed, controller_kills=40))
    assert (killed.outcome, killed.on_new, killed.resets) == (calm.outcome, calm.on_new, calm.resets)
    assert killed.most_resets == 1
    assert 20 < killed.takeovers <= 40


def test_a_drain_that_a_dying_controller_asked_for_in_part_is_one_drain_of_all_nodes() -> None:
    """With this seed two of 18 nodes are asked for by the next one."""
    world = Scenario(nodes=180, seed=999_999, defect_rate=0.3, base_failure=0.0, boot_failure=0.0, max_days=1)
    calm, killed = simulate(world), simulate(replace(world, controller_kills=30))
    assert (killed.outcome, killed.on_old, killed.drains_given_up) == (calm.outcome, calm.on_old, 0)


def test_orders_of_dead_controllers_are_refused() -> None:
    assert sum(simulate(replace(CALM, seed=seed, controller_kills=40)).refused for seed in range(3)) > 0


def test_a_bad_release_is_stopped_although_controllers_die() -> None:
    result = simulate(replace(CALM, nodes=3_600, defect_rate=0.2, run_short=0, controller_kills=20, fault_hours=1.5))
    assert (result.outcome, result.on_old) == (Outcome.RETURNED, 3_600)
    assert result.takeovers > 5


def test_a_node_that_names_the_old_release_after_its_boot_stops_the_rollout() -> None:
    result = simulate(replace(CALM, stale_digests=0.02))
    assert result.stopped is not None
    assert "and not sha256:green" in result.why
    assert result.ran_new < 180


def test_a_person_who_pauses_only_delays() -> None:
    calm, paused = simulate(CALM), simulate(replace(CALM, pauses=3))
    assert paused.outcome is Outcome.COMPLETE
    assert calm.seconds < paused.seconds <= calm.seconds + 3 * 45 * 60


@pytest.mark.parametrize("seed", range(8))
def test_everything_at_once_breaks_no_promise(seed: int) -> None:
    scenario = Scenario(
        nodes=1_200,
        seed=seed,
        defect_rate=0.02,
        job_hours=1.0,
        power_loss=2,
        lost_telemetry=2,
        clock_jumps=3,
        controller_kills=15,
        pauses=2,
        max_days=3,
    )
    assert simulate(scenario).takeovers > 0
