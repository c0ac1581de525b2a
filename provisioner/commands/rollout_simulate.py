"""`firstlight rollout simulate`: a whole rollout in a simulated site, decided by the code that decides real ones."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from provisioner.commands.console import say
from provisioner.commands.rollout_plot import draw, refuse_undrawable
from provisioner.commands.rollout_simulate_options import takes_scenario
from provisioner.commands.rollout_simulate_text import result_text, summary_text
from provisioner.errors import BadInput
from provisioner.simulator.many import simulate_many
from provisioner.simulator.run import simulate
from provisioner.simulator.scenario import Scenario

MOST_RUNS = 100_000


@takes_scenario
def simulate_command(
    scenario: Scenario,
    runs: Annotated[int, typer.Option(help="So many runs, with seeds from --seed on.")] = 1,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw one run: .svg or .png.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Try a rollout out: who is out and when, what a bad release reaches, how long it all takes.

    Every decision is made by the code that makes it for real nodes; nodes, boots, jobs and faults are simulated. Ends
    with 1 when a promise is broken (floor, domains, reboots, pauses), and says with which seed and when.
    """
    if not 1 <= runs <= MOST_RUNS:
        raise BadInput(f"--runs: {runs}: give 1 to {MOST_RUNS}")
    if plot is not None:
        if runs > 1:
            raise BadInput(f"--plot: {runs} runs make no picture: leave --runs out")
        refuse_undrawable(plot)
    if runs > 1:
        summary = simulate_many(scenario, runs)
        say_json(asdict(summary)) if as_json else say(summary_text(summary, scenario))
        return
    result = simulate(scenario)
    if plot is not None:
        draw(result, plot)
    say_json(asdict(result)) if as_json else say(result_text(result, scenario))


def say_json(figures: object) -> None:
    """For programs."""
    typer.echo(json.dumps(figures, indent=2))
