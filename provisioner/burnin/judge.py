"""The verdict over a burn-in run. Pass means evidence: every check, present, judged and in range. Pure."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from profiles.models import BurnInItem, BurnInPlan
from provisioner.models.burn_in import CheckResult, ResultStatus


class Verdict(StrEnum):
    """What a run amounts to so far."""

    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    SILENT = "silent"
    """The agent has missed its heartbeats; a dead agent is not yet a dead node."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and what it rests on, one sentence per fact."""

    verdict: Verdict
    facts: tuple[str, ...]
    percent: float


def judge(
    plan: BurnInPlan,
    results: Sequence[CheckResult],
    last_beat: datetime,
    now: datetime,
    patience: timedelta,
) -> Judgement:
    """`last_beat`: the last sign of life, or the opening of the run before the first one; silent after `patience`."""
    by_item = {result.item: result for result in results}
    percent = 100.0 * sum(item.id in by_item for item in plan.items) / len(plan.items)
    faults = tuple(fault for item in plan.items if item.id in by_item for fault in _faults(item, by_item[item.id]))
    if faults:
        return Judgement(Verdict.FAILED, faults, percent)
    if all(item.id in by_item for item in plan.items):
        return Judgement(Verdict.PASSED, tuple(_fact(by_item[item.id]) for item in plan.items), percent)
    if now - last_beat > patience:
        return Judgement(Verdict.SILENT, (f"no sign of life since {last_beat:%H:%M:%S} UTC",), percent)
    return Judgement(Verdict.RUNNING, (), percent)


def _faults(item: BurnInItem, result: CheckResult) -> Iterator[str]:
    if result.status is not ResultStatus.PASS:
        first = result.evidence.strip().splitlines()[:1]
        yield f"{item.id}: {result.status}{': ' + first[0] if first else ''}"
    for metric, floor in item.floors.items():
        yield from _out_of_range(item.id, metric, result, at_least=float(floor))
    for metric, ceiling in item.ceilings.items():
        yield from _out_of_range(item.id, metric, result, at_most=float(ceiling))


def _out_of_range(
    item: str, metric: str, result: CheckResult, *, at_least: float | None = None, at_most: float | None = None
) -> Iterator[str]:
    value = result.metrics.get(metric)
    if value is None or not math.isfinite(value):
        yield f"{item}: {metric} was not measured"
    elif at_least is not None and value < at_least:
        yield f"{item}: {metric} {value:g} is below {at_least:g}"
    elif at_most is not None and value > at_most:
        yield f"{item}: {metric} {value:g} is above {at_most:g}"


def _fact(result: CheckResult) -> str:
    numbers = ", ".join(f"{name} {value:g}" for name, value in sorted(result.metrics.items()))
    return f"{result.item}: pass ({numbers})"
