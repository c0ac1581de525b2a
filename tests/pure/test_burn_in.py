"""The verdict: pass means evidence. Skipped is not passed; missing telemetry is not good telemetry."""

from dataclasses import replace
from datetime import timedelta
from math import inf, isfinite, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.burnin.judge import Judgement, Verdict, judge
from provisioner.burnin.pace import GRACE, patience
from provisioner.models.burn_in import CheckResult, ResultStatus
from tests.pure.samples import NOW, burn_in

PLAN = burn_in()
PATIENCE = timedelta(minutes=1)
LIMITS = {"threads": (32, None), "mebibytes_per_second": (200, None), "mismatches": (None, 0)}
MEASURED = {"cpu": {"threads": 64.0, "mismatches": 0.0}, "memory": {"mebibytes_per_second": 9e3, "mismatches": 0.0}}

numbers = st.sampled_from([nan, inf, -inf, -1.0, 0.0, 1.0, 31.9, 32.0, 200.0, 1e9]) | st.floats()


def result(item: str, status: ResultStatus = ResultStatus.PASS, **metrics: float) -> CheckResult:
    """One check of the run; what it measured is good unless said otherwise."""
    return CheckResult("run", 1, item, status, NOW, NOW, {**MEASURED.get(item, {}), **metrics}, "evidence\nmore")


GOOD = [result("cpu"), result("memory")]
results = st.lists(
    st.builds(
        lambda item, status, metrics: replace(result(item, status), metrics=metrics),
        st.sampled_from(["cpu", "memory", "disk"]),
        st.sampled_from(ResultStatus),
        st.dictionaries(st.sampled_from(sorted(LIMITS)), numbers) | st.sampled_from(list(MEASURED.values())),
    ),
    unique_by=lambda one: one.item,
)


def judged(found: list[CheckResult], silent: timedelta = timedelta()) -> Judgement:
    """With the last sign of life so long ago."""
    return judge(PLAN, found, NOW - silent, NOW, PATIENCE)


def is_good(item: str, found: list[CheckResult]) -> bool:
    """Present, passed, and every limit met by a finite number."""
    mine = next((one for one in found if one.item == item), None)
    if mine is None or mine.status is not ResultStatus.PASS:
        return False
    limited = next(one for one in PLAN.items if one.id == item)
    floors = all(mine.metrics.get(name, nan) >= floor for name, floor in limited.floors.items())
    ceilings = all(mine.metrics.get(name, nan) <= ceiling for name, ceiling in limited.ceilings.items())
    finite = all(isfinite(mine.metrics[name]) for name in (*limited.floors, *limited.ceilings) if name in mine.metrics)
    return floors and ceilings and finite


def test_every_check_good_is_a_pass_that_says_what_it_rests_on() -> None:
    judgement = judged(GOOD)
    assert judgement.verdict is Verdict.PASSED
    assert judgement.percent == 100
    assert len(judgement.facts) == 2


@given(results, st.timedeltas(timedelta(), timedelta(minutes=5)))
def test_pass_if_and_only_if_every_check_is_good(found: list[CheckResult], silent: timedelta) -> None:
    passed = judged(found, silent).verdict is Verdict.PASSED
    assert passed == all(is_good(item.id, found) for item in PLAN.items)


@given(results, st.sampled_from(["cpu", "memory"]), st.sampled_from([ResultStatus.FAIL, ResultStatus.ERROR]))
def test_a_failing_result_never_turns_anything_into_a_pass(
    found: list[CheckResult], item: str, status: ResultStatus
) -> None:
    with_it = [*(one for one in found if one.item != item), result(item, status)]
    assert judged(with_it).verdict is Verdict.FAILED
    assert any(fact.startswith(f"{item}: {status}: evidence") for fact in judged(with_it).facts)


@given(results)
def test_the_order_of_results_does_not_matter(found: list[CheckResult]) -> None:
    assert judged(found).verdict is judged(found[::-1]).verdict


@pytest.mark.parametrize("number", [nan, inf, -inf])
@pytest.mark.parametrize(("item", "metric"), [("cpu", "threads"), ("cpu", "mismatches"), ("memory", "mismatches")])
def test_a_number_that_is_none_is_a_failure(item: str, metric: str, number: float) -> None:
    others = [one for one in GOOD if one.item != item]
    judgement = judged([*others, replace(result(item), metrics={**MEASURED[item], metric: number})])
    assert judgement.verdict is Verdict.FAILED
    assert judgement.facts == (f"{item}: {metric} was not measured",)


def test_a_metric_that_is_missing_is_a_failure() -> None:
    judgement = judged([result("memory"), replace(result("cpu"), metrics={"threads": 64.0})])
    assert judgement.facts == ("cpu: mismatches was not measured",)


def test_the_limits_themselves_are_good() -> None:
    assert judged([result("cpu", threads=32.0), result("memory")]).verdict is Verdict.PASSED
    assert judged([result("cpu", threads=31.9), result("memory")]).facts == ("cpu: threads 31.9 is below 32",)
    assert judged([result("cpu", mismatches=1.0), result("memory")]).facts == ("cpu: mismatches 1 is above 0",)


def test_nothing_yet_is_running_until_it_is_silent_for_too_long() -> None:
    assert judged([], PATIENCE).verdict is Verdict.RUNNING
    assert judged([], PATIENCE + timedelta(seconds=1)).verdict is Verdict.SILENT
    assert judged(GOOD[:1], PATIENCE).percent == 50


def test_results_of_other_checks_do_not_count() -> None:
    assert judged([result("disk")]).percent == 0


def test_three_heartbeats_may_be_missing() -> None:
    assert patience(timedelta(seconds=15)) == timedelta(seconds=45) + GRACE
