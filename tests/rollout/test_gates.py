"""Statistics against published values; and what a gate makes of them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.rollout.gate import Sample, defects, judge
from provisioner.rollout.ranks import mann_whitney
from provisioner.rollout.spec import Metric
from provisioner.rollout.sprt import Evidence, weigh
from provisioner.rollout.state import Trials, Verdict

# Ozone of R's data set `airquality`, May and August, without the missing days.
MAY = (41, 36, 12, 18, 28, 23, 19, 8, 7, 16, 11, 14, 18, 14, 34, 6, 30, 11, 1, 11, 4, 32, 23, 45, 115, 37)
AUGUST = (39, 9, 16, 78, 35, 66, 122, 89, 110, 44, 28, 65, 22, 59, 23, 31, 44, 21, 9, 45, 168, 73, 76, 118, 84, 85)


def test_mann_whitney_with_ties_is_as_in_the_manual_of_r() -> None:
    """R, `?wilcox.test`: Ozone ~ Month, months 5 and 8: W = 127.5, p-value = 0.0001208."""
    ranks = mann_whitney(MAY, AUGUST)
    assert ranks.u == 127.5
    assert ranks.two_sided == pytest.approx(0.0001208, abs=5e-8)


def test_mann_whitney_without_ties_is_as_in_the_manual_of_scipy() -> None:
    """scipy.stats.mannwhitneyu: ages of males and females at diagnosis: U1 = 17, asymptotic p = 0.11134688653."""
    ranks = mann_whitney((19, 22, 16, 29, 24), (20, 11, 17, 12))
    assert ranks.u == 17
    assert ranks.two_sided == pytest.approx(0.11134688653, abs=1e-10)


def test_effect_size_of_tortoises_and_hares() -> None:
    """Mann and Whitney's example (Wikipedia, "Mann-Whitney U test"): T H H H H H T T T T T H; U of 11 and 25."""
    tortoises, hares = (1, 7, 8, 9, 10, 11), (2, 3, 4, 5, 6, 12)
    assert {mann_whitney(tortoises, hares).u, mann_whitney(hares, tortoises).u} == {11, 25}
    assert mann_whitney(tortoises, hares).effect == pytest.approx(2 * 25 / 36 - 1)


samples = st.lists(st.integers(0, 9).map(float), min_size=1, max_size=20)


@given(samples, samples)
def test_mann_whitney_is_symmetric(first: list[float], second: list[float]) -> None:
    one, other = mann_whitney(first, second), mann_whitney(second, first)
    assert one.u + other.u == len(first) * len(second)
    assert one.effect == pytest.approx(-other.effect)
    assert one.two_sided == pytest.approx(other.two_sided)
    assert 0 <= one.two_sided <= 1


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        mann_whitney((), (1.0,))


def settled_after(share: float, seed: int, most: int) -> tuple[Evidence, int]:
    """What nodes of which this share fails are found to be, and after how many of them."""
    rng = random.Random(seed)  # a simulation
    failed, evidence = 0, Evidence.OPEN_TO_GOOD
    for nodes in range(1, most + 1):
        failed += rng.random() < share
        evidence = weigh(Trials(nodes, failed), Trials())
        if evidence in {Evidence.DEFECT, Evidence.GOOD}:
            return evidence, nodes
    return evidence, most


def test_sprt_keeps_its_promises() -> None:
    """Wald: false alarms at most alpha/(1-beta), misses at most beta; a defect of 5 % is met after some 170 nodes."""
    good = [settled_after(0.01, seed, 5000)[0] for seed in range(1500)]
    assert good.count(Evidence.DEFECT) <= 5
    bad = [settled_after(0.05, seed, 5000) for seed in range(600)]
    caught = [nodes for evidence, nodes in bad if evidence is Evidence.DEFECT]
    assert len(caught) >= 0.93 * len(bad)
    assert 140 < sum(caught) / len(caught) < 200


def test_sprt_accepts_after_73_good_nodes_and_not_before() -> None:
    """ln(0.05 / 0.999) / ln(0.95 / 0.99) = 72.6."""
    assert weigh(Trials(72, 0), Trials()) is Evidence.OPEN_TO_GOOD
    assert weigh(Trials(73, 0), Trials()) is Evidence.GOOD


def test_what_fails_in_the_control_group_too_is_not_held_against_the_release() -> None:
    assert weigh(Trials(100, 8), Trials(1000, 5)) is Evidence.DEFECT
    assert weigh(Trials(100, 8), Trials(1000, 100)) is not Evidence.DEFECT


@given(st.integers(0, 300), st.integers(0, 300))
def test_more_failures_never_look_better(nodes: int, failed: int) -> None:
    order = [Evidence.GOOD, Evidence.OPEN_TO_GOOD, Evidence.OPEN_TO_DEFECT, Evidence.DEFECT]
    failed = min(failed, nodes)
    fewer, more = weigh(Trials(nodes + 1, failed), Trials()), weigh(Trials(nodes + 1, failed + 1), Trials())
    assert order.index(fewer) <= order.index(more)


def sample(green: list[float], control: list[float], metric: Metric = Metric.BOOT_SECONDS, missing: int = 0) -> Sample:
    return Sample("h100", metric, tuple(green), tuple(control), missing)


FAST, SLOW = [100.0 + number for number in range(20)], [300.0 + number for number in range(20)]


@pytest.mark.parametrize(
    ("one", "verdict"),
    [
        (sample(SLOW, FAST), Verdict.FAIL),
        (sample(FAST, SLOW), Verdict.PASS),
        (sample(FAST, SLOW, Metric.BANDWIDTH), Verdict.FAIL),
        (sample(SLOW, FAST, Metric.BANDWIDTH), Verdict.PASS),
        (sample(FAST, FAST), Verdict.PASS),
        (sample([8.0, *FAST[:7]], FAST[10:18]), Verdict.PASS),
        (sample(FAST[4:13], FAST[:9]), Verdict.INCONCLUSIVE),
        (sample([], FAST, missing=20), Verdict.INCONCLUSIVE),
        (sample(SLOW[:3], FAST), Verdict.PASS),
    ],
    ids=["slow", "fast", "narrow", "wide", "equal", "better", "leans", "missing", "few"],
)
def test_a_metric_fails_only_when_worse_for_sure_and_by_much(one: Sample, verdict: Verdict) -> None:
    judgement = judge({}, {}, [one])
    assert judgement.verdict is verdict
    assert bool(judgement.findings) == (verdict is not Verdict.PASS)


def test_the_worst_finding_is_the_verdict() -> None:
    trials = {"h100": Trials(18, 1), "gb200": Trials(18, 9)}
    judgement = judge(trials, {}, [])
    assert judgement.verdict is Verdict.FAIL
    assert judgement.findings == ("gb200: 9 of 18 nodes failed, and 0 of 0 of its control group",)
    assert defects(trials, {}) == judgement.findings
    assert judge({"h100": Trials(18, 1)}, {}, []).verdict is Verdict.INCONCLUSIVE
    assert judge({"h100": Trials(18, 0)}, {}, []).verdict is Verdict.PASS
