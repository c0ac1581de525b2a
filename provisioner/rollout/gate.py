"""What a wave that has soaked is worth. Pure; the absolute stop rules came before it, at every step."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from provisioner.rollout.ranks import mann_whitney
from provisioner.rollout.spec import Metric
from provisioner.rollout.sprt import Evidence, weigh
from provisioner.rollout.state import Trials, Verdict

FEWEST = 8
"""Values in each of both samples below which the normal approximation says nothing."""
SIGNIFICANT = 0.001
LARGE = 0.33
"""Cliff's delta from which a difference matters (Romano et al. 2006: medium)."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One metric of one hardware class. `missing`: nodes on the new release that have no value."""

    hardware_class: str
    metric: Metric
    green: tuple[float, ...]
    control: tuple[float, ...]
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and every finding that led to it."""

    verdict: Verdict
    findings: tuple[str, ...]


def judge(trials: Mapping[str, Trials], control: Mapping[str, Trials], samples: Sequence[Sample]) -> Judgement:
    """The worst of all findings; a pass has none. `trials`, `control`: by hardware class."""
    found = [*_of_trials(trials, control), *(one for sample in samples for one in _of_sample(sample))]
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
        if any(one == verdict for one, _ in found):
            return Judgement(verdict, tuple(text for one, text in found if one == verdict))
    return Judgement(Verdict.PASS, ())


def defects(trials: Mapping[str, Trials], control: Mapping[str, Trials]) -> tuple[str, ...]:
    """What is settled against the release already; may be asked after every unit."""
    return tuple(text for verdict, text in _of_trials(trials, control) if verdict is Verdict.FAIL)


def _of_trials(trials: Mapping[str, Trials], control: Mapping[str, Trials]) -> Iterator[tuple[Verdict, str]]:
    for hardware_class, green in trials.items():
        beside = control.get(hardware_class, Trials())
        evidence = weigh(green, beside)
        text = f"{hardware_class}: {green.failed} of {green.nodes} nodes failed"
        text += f", and {beside.failed} of {beside.nodes} of its control group"
        if evidence is Evidence.DEFECT:
            yield Verdict.FAIL, text
        elif evidence is Evidence.OPEN_TO_DEFECT:
            yield Verdict.INCONCLUSIVE, text


def _of_sample(sample: Sample) -> Iterator[tuple[Verdict, str]]:
    """Missing is not good: where most nodes have no value, nothing is known."""
    where = f"{sample.hardware_class}: {sample.metric}"
    if sample.missing > len(sample.green):
        yield Verdict.INCONCLUSIVE, f"{where}: {sample.missing} of {sample.missing + len(sample.green)} nodes lack it"
    if min(len(sample.green), len(sample.control)) < FEWEST:
        return
    worse, better = sample.green, sample.control
    if sample.metric is Metric.BANDWIDTH:
        worse, better = better, worse
    ranks = mann_whitney(worse, better)
    if ranks.effect < LARGE:
        return
    text = f"{where}: worse than its control group (effect {ranks.effect:.2f}, p {ranks.greater:.2g})"
    yield (Verdict.FAIL if ranks.greater < SIGNIFICANT else Verdict.INCONCLUSIVE), text
