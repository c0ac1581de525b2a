"""`firstlight bench`: figures of one run on this machine, as a table and as JSON."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from provisioner.bench.line import LineFigures, measure

bench_app = typer.Typer(help="Measure this installation on this machine.", no_args_is_help=True)


@bench_app.callback()
def _measure() -> None:
    """Measure this installation on this machine."""


@bench_app.command("line")
def line(
    nodes: Annotated[list[int] | None, typer.Option(help="Emulated servers; twice for a comparison.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the figures there as well.")] = None,
) -> None:
    """Emulated GPU servers from dark to ready, emulated durations at zero, emulator on the same cores, SQLite."""
    figures = [measure(count) for count in nodes or [200, 400]]
    Console().print(_table(figures))
    if len(figures) > 1:
        first, last = figures[0], figures[-1]
        typer.echo(f"{last.nodes} nodes took {last.seconds / first.seconds:.2f} times as long as {first.nodes}")
    if json_file is not None:
        json_file.write_text(json.dumps([one.as_dict() for one in figures], indent=2) + "\n", encoding="utf-8")


def _table(figures: list[LineFigures]) -> Table:
    table = Table("figure", *(f"{one.nodes} nodes" for one in figures), title="bench line")
    for name in figures[0].as_dict():
        table.add_row(name.replace("_", " "), *(f"{one.as_dict()[name]:g}" for one in figures))
    return table
