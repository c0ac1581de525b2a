"""Good and bad releases in a simulated site."""

from dataclasses import replace

import pytest

from provisioner.rollout.spec import Floor, ReturnScope
from provisioner.simulator.many import simulate_many, summed_up
from provisioner.simulator.result import Outcome, Result
from provisioner.simulator.run import simulate
from provisioner.simulator.scenario import Inconclusive, Scenario

CALM = Scenario(nodes=1_800, base_failure=0.0, boot_failure=0.0)
"""Nothing goes wrong by itself."""


def test_fifteen_percent_defects_stop_within_the_canaries_and_all_go_back_to_blue() -> None:
    result = simulate(Scenario(nodes=10_000, defect_rate=0.15, base_failure=0.0, run_short=0))
    assert result.outcome is Outcome.RETURNED
    assert result.ran_new <= 100
    assert (result.on_old, result.on_new, result.quarantined) == (10_000, 0, 0)
    assert [wave.number for wave in result.waves] == [0]
    assert result.lowest_serving >= 9_900
    assert result.first_defect is not None
    assert result.stopped is not None
    assert result.returned is not None
    assert result.first_defect < result.stopped < result.returned == result.seconds


def test_they_stop_within_the_first_hundredth_where_each_node_moves_by_itself() -> None:
    result = simulate(Scenario(nodes=10_000, domain_size=1, defect_rate=0.15, base_failure=0.0))
    assert (result.outcome, result.on_old) == (Outcome.RETURNED, 10_000)
    assert result.ran_new <= 100
    assert [wave.number for wave in result.waves] == [0, 1]


@pytest.mark.parametrize("domain_size", [1, 8, 18])
def test_what_is_out_with_quarantine_is_all_that_stays_on_green(domain_size: int) -> None:
    result = simulate(Scenario(nodes=3_600, domain_size=domain_size, defect_rate=0.3, base_failure=0.0))
    assert result.outcome is Outcome.RETURNED
    assert result.on_new == result.quarantined
    assert result.ran_new <= max(90, 5 * domain_size)


def test_a_good_release_is_not_stopped_by_what_fails_anyway() -> None:
    """The sequential test's false alarms are one in a thousand, where one node in a hundred fails."""
    summary = simulate_many(Scenario(nodes=2_000), 40)
    assert not summary.defective
    assert (summary.wrong, summary.outcomes) == (0, {Outcome.COMPLETE: 40})
    assert summary.lowest_share >= 0.9


def test_a_defective_release_is_missed_in_no_run_of_forty() -> None:
    summary = simulate_many(Scenario(nodes=4_000, defect_rate=0.1), 40)
    assert (summary.runs, summary.defective, summary.wrong) == (40, True, 0)
    assert summary.ran_new_most <= 400
    assert summary.to_stop_p50 is not None
    assert summary.to_returned_p50 is not None
    assert summary.to_returned_p50 > summary.to_stop_p50 > 0


def test_a_bad_release_that_only_the_floor_holds_up_is_missed_and_a_good_one_is_no_false_abort() -> None:
    held_up = replace(simulate(CALM), outcome=Outcome.UNFINISHED, stopped=None)
    assert summed_up([held_up], defective=True).wrong_seeds == (1,)
    assert summed_up([held_up], defective=False).wrong == 0


def test_nothing_goes_wrong_where_nothing_can() -> None:
    result = simulate(CALM)
    assert result.outcome is Outcome.COMPLETE
    assert (result.on_new, result.ran_new, result.quarantined, result.asked) == (1_800, 1_800, 0, 0)
    assert (result.resets, result.most_resets) == (1_800, 1)
    assert result.units_taken == result.drains == 100
    assert result.lowest_serving >= result.floor == 1_620
    assert [wave.verdict for wave in result.waves] == ["pass"] * len(result.waves)
    assert sum(wave.units for wave in result.waves) == 100


def test_capacity_lost_is_the_area_above_the_curve() -> None:
    result = simulate(CALM)
    ends = [*(moment.at for moment in result.curve[1:]), result.seconds]
    lost = sum((1_800 - one.serving) * (end - one.at) for one, end in zip(result.curve, ends, strict=True))
    assert result.gpu_hours_lost == pytest.approx(lost / 3600 * 4)
    least = 1_800 * (5 * 60 + 2 * 60) / 3600 * 4 / 2
    assert result.gpu_hours_lost > least, "each node is out while it boots and is checked"


def test_waves_come_one_after_the_other_and_are_watched() -> None:
    result = simulate(replace(CALM, soak_minutes=120))
    for wave, following in zip(result.waves, result.waves[1:], strict=False):
        assert wave.closed == following.opened
    assert all(wave.closed is not None and wave.closed - wave.opened >= 7200 for wave in result.waves)


def test_a_lower_floor_is_quicker() -> None:
    slow, quick = (simulate(replace(CALM, nodes=5_400, floor=Floor(percent=percent))) for percent in (95, 80))
    assert quick.seconds < slow.seconds
    assert slow.lowest_serving >= 5_130
    assert 4_320 <= quick.lowest_serving < slow.lowest_serving


def test_jobs_that_run_to_their_end_delay_drains() -> None:
    """A drain is given up at its deadline, and tried again later."""
    jobs = replace(CALM, nodes=900, job_hours=1.0, checkpointing=0.5, max_days=60)
    result, without = simulate(jobs), simulate(replace(jobs, job_hours=0.0))
    assert result.outcome is Outcome.COMPLETE
    assert result.drains_given_up > 0 == without.drains_given_up
    assert result.seconds > 2 * without.seconds
    assert without.drain_p99 <= 600 < result.drain_p99 <= 30 * 60 + 360


def test_a_run_that_does_not_end_is_given_up() -> None:
    result = simulate(replace(CALM, nodes=900, job_hours=100.0, checkpointing=0.0, max_days=1))
    assert result.outcome is Outcome.UNFINISHED
    assert 86_400 <= result.seconds < 86_400 + 600
    assert "still to be taken" in result.why


def asked(policy: Inconclusive) -> Result:
    """The canaries leave it open whether the release is good."""
    return simulate(Scenario(nodes=3_600, defect_rate=0.06, base_failure=0.0, on_inconclusive=policy, seed=8))


def test_the_operator_is_asked_where_a_gate_cannot_tell() -> None:
    waits = asked(Inconclusive.WAIT)
    assert (waits.outcome, waits.asked, len(waits.waves)) == (Outcome.WAITING, 1, 1)
    stops = asked(Inconclusive.STOP)
    assert (stops.outcome, stops.asked, len(stops.waves)) == (Outcome.RETURNED, 1, 1)
    goes_on = asked(Inconclusive.GO_ON)
    assert len(goes_on.waves) > 1
    assert goes_on.ran_new > stops.ran_new == waits.ran_new


def test_only_the_failed_wave_goes_back_where_that_is_the_scope() -> None:
    scenario = Scenario(nodes=3_600, defect_rate=0.05, base_failure=0.0, canaries=1, seed=3)
    whole, wave = simulate(scenario), simulate(replace(scenario, return_scope=ReturnScope.WAVE))
    assert whole.stopped == wave.stopped
    assert whole.stopped is not None
    assert whole.on_new == whole.quarantined
    assert wave.on_new > wave.quarantined


def test_a_run_short_of_nothing_fails_units_that_another_goes_on_with() -> None:
    strict, lenient = (simulate(Scenario(nodes=3_600, run_short=short, seed=2)) for short in (0, 4))
    assert sum(wave.failed_units for wave in strict.waves) > sum(wave.failed_units for wave in lenient.waves)
