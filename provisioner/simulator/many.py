"""The same scenario with many seeds: how often is a good release stopped, and a defective one let through?"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from provisioner.simulator.inventory import units_of
from provisioner.simulator.recorder import quantile
from provisioner.simulator.result import Outcome, Result, Summary
from provisioner.simulator.run import simulate
from provisioner.simulator.scenario import Scenario


def simulate_many(scenario: Scenario, runs: int, watch: Callable[[Result], None] = lambda _: None) -> Summary:
    """Seeds from the scenario's on, one after the other. `watch` is called after each.

    Raises as `simulate`: the first broken promise ends it.
    """
    units = units_of(scenario)
    results = []
    for number in range(runs):
        result = simulate(replace(scenario, seed=scenario.seed + number), units)
        watch(result)
        results.append(replace(result, curve=()))
    return summed_up(results, defective=bool(scenario.defect_rate or scenario.late_defects))


def summed_up(results: Sequence[Result], *, defective: bool) -> Summary:
    """Of at least one run. `defective`: the release was to be stopped."""
    wrong = [one.seed for one in results if _was_stopped(one) != defective]
    return Summary(
        runs=len(results),
        defective=defective,
        outcomes=dict(Counter(one.outcome for one in results)),
        wrong=len(wrong),
        wrong_seeds=tuple(wrong),
        asked=sum(one.asked > 0 for one in results),
        lowest_share=min(one.lowest_serving / one.nodes for one in results),
        ran_new_p50=quantile(sorted(one.ran_new for one in results), 0.5) or 0.0,
        ran_new_most=max(one.ran_new for one in results),
        seconds_p50=quantile(sorted(one.seconds for one in results), 0.5) or 0.0,
        seconds_p99=quantile(sorted(one.seconds for one in results), 0.99) or 0.0,
        to_stop_p50=_median(_between(one.first_defect, one.stopped) for one in results),
        to_returned_p50=_median(_between(one.first_defect, one.returned) for one in results),
    )


def _was_stopped(result: Result) -> bool:
    """By a gate. What the floor holds up for ever was not."""
    return result.stopped is not None or result.outcome is Outcome.WAITING


def _between(first: float | None, last: float | None) -> float | None:
    return None if first is None or last is None else last - first


def _median(values: Iterable[float | None]) -> float | None:
    return quantile(sorted(value for value in values if value is not None), 0.5)
