"""Simulated rollouts as people read them on a terminal. Pure."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.commands.console import bare_table, fields, short
from provisioner.simulator.result import STOPPED, Outcome, Result, Summary
from provisioner.simulator.scenario import Scenario

_LONGEST_REASON = 300
_MOST_SEEDS = 10


def result_text(result: Result, scenario: Scenario) -> RenderableType:
    """How it ended, what it cost, whom it reached; and a line for each wave that was opened."""
    table = bare_table("wave", "units", "opened after", "took", "verdict", "units failed")
    for wave in result.waves:
        took = "-" if wave.closed is None else _time(wave.closed - wave.opened)
        verdict, failed = wave.verdict or "-", str(wave.failed_units)
        table.add_row(str(wave.number), str(wave.units), _time(wave.opened), took, verdict, failed)
    return Group(fields(_facts(result, scenario)), Text(), table)


def summary_text(summary: Summary, scenario: Scenario) -> RenderableType:
    """How often it went wrong, and what is usual."""
    return fields(_summed(summary, scenario))


def _facts(result: Result, scenario: Scenario) -> Iterator[tuple[str, str | Text | None]]:
    nodes = result.nodes
    yield "site", f"{nodes:,} nodes in units of {scenario.domain_size}, seed {result.seed}"
    yield "outcome", _outcome(result.outcome)
    yield "why", _cut(result.why) if result.outcome is not Outcome.COMPLETE else None
    yield "took", f"{_time(result.seconds)}, in {result.steps} steps of the controller"
    low, floor = _share(result.lowest_serving, nodes), _share(result.floor, nodes)
    yield "in service", f"never less than {low} ({result.lowest_serving:,} nodes); the floor is {floor}"
    yield "capacity lost", f"{result.gpu_hours_lost:,.0f} GPU hours"
    yield "ran the new release", f"{result.ran_new:,} nodes, {_share(result.ran_new, nodes)}"
    quarantined = f"; of these in quarantine: {result.quarantined:,}" if result.quarantined else ""
    yield "at the end", f"{result.on_new:,} nodes on the new release, {result.on_old:,} on the old{quarantined}"
    yield "stop", _stop(result)
    given_up = f"; {result.drains_given_up} given up" if result.drains_given_up else ""
    waits = f"p50 {_time(result.drain_p50)}, p99 {_time(result.drain_p99)}"
    yield "drains", f"{result.drains} ended{given_up}; waits {waits}"
    yield "reboots", f"{result.resets:,}; at most {result.most_resets} of one node, at most one for one attempt"
    yield "operator asked", f"{result.asked} times" if result.asked else None
    refused = f"{result.takeovers}; {result.refused} late orders of dead ones refused"
    yield "controllers replaced", refused if result.takeovers else None


def _stop(result: Result) -> str | None:
    if result.stopped is None:
        return None
    if result.first_defect is None:
        text = f"after {_time(result.stopped)}"
    else:
        text = f"{_time(result.stopped - result.first_defect)} after the first defect showed"
    if result.returned is not None:
        text += f"; all was back {_time(result.returned - result.stopped)} later"
    return text


def _summed(summary: Summary, scenario: Scenario) -> Iterator[tuple[str, str | Text | None]]:
    runs = summary.runs
    yield "site", f"{scenario.nodes:,} nodes in units of {scenario.domain_size}"
    last = scenario.seed + runs - 1
    outcomes = ", ".join(f"{count} {_words(one)}" for one, count in sorted(summary.outcomes.items()))
    yield "runs", f"{runs}, seeds {scenario.seed} to {last}: {outcomes}"
    seeds = ", ".join(map(str, summary.wrong_seeds[:_MOST_SEEDS]))
    more = ", ..." if len(summary.wrong_seeds) > _MOST_SEEDS else ""
    which = f" (seeds {seeds}{more})" if summary.wrong else ""
    name = "misses" if summary.defective else "false aborts"
    yield name, f"{summary.wrong} of {runs}, {_share(summary.wrong, runs)}{which}"
    yield "operator asked", f"in {summary.asked} of {runs} runs"
    yield "in service", f"never less than {100 * summary.lowest_share:.2f} %"
    yield "ran the new release", f"p50 {summary.ran_new_p50:,.0f} nodes, at most {summary.ran_new_most:,}"
    yield "took", f"p50 {_time(summary.seconds_p50)}, p99 {_time(summary.seconds_p99)}"
    if summary.to_stop_p50 is not None:
        yield "first defect to stop", f"p50 {_time(summary.to_stop_p50)}"
    if summary.to_returned_p50 is not None:
        yield "first defect to all back", f"p50 {_time(summary.to_returned_p50)}"


def _outcome(outcome: Outcome) -> Text:
    colour = "green" if outcome is Outcome.COMPLETE else "yellow" if outcome in STOPPED else "red"
    return Text(_words(outcome), style=colour)


def _words(outcome: Outcome) -> str:
    return outcome.value.replace("_", " ")


def _cut(why: str) -> str:
    return why if len(why) <= _LONGEST_REASON else f"{why[:_LONGEST_REASON]} ..."


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f} %"


def _time(seconds: float) -> str:
    """Hours to one place from ninety minutes on: rollouts are compared by them."""
    return f"{seconds / 3600:.1f} h" if 5400 <= seconds < 172800 else short(seconds)
