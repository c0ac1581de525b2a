"""Figures of a run, for people and for programs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

Json = Annotated[Path | None, typer.Option("--json", help="Write the figures there as well.")]


def show(title: str, columns: Mapping[str, Mapping[str, float | str | None]]) -> None:
    """A row for each figure, a column for each run."""
    table = Table("figure", *columns, title=title)
    for name in next(iter(columns.values())):
        table.add_row(name.replace("_", " "), *(_cell(figures[name]) for figures in columns.values()))
    Console().print(table)


def keep(path: Path | None, figures: object) -> None:
    """As JSON, where a path was named."""
    if path is not None:
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _cell(value: float | str | None) -> str:
    return "-" if value is None else value if isinstance(value, str) else f"{value:g}"
