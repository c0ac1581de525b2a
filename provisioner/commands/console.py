"""Words and colours for terminals."""

from collections.abc import Iterable
from datetime import UTC, datetime
from io import StringIO

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from provisioner.models.lifecycle import State

_WIDE = 2000
"""Columns where nobody looks at a screen: lines stay whole, for grep."""

_COLOURS = {
    State.DISCOVERED: "bright_black",
    State.READY: "green",
    State.IN_PRODUCTION: "green",
    State.MAINTENANCE: "yellow",
    State.HELD: "red",
    State.DECOMMISSIONING: "yellow",
    State.DECOMMISSIONED: "bright_black",
}


def say(what: RenderableType) -> None:
    """To standard output: with colours and in the width of a terminal, else bare and one line a line."""
    terminal = Console(highlight=False)
    if terminal.is_terminal:
        terminal.print(what)
        return
    bare = Console(highlight=False, width=_WIDE, file=StringIO())
    with bare.capture() as text:
        bare.print(what)
    typer.echo("\n".join(line.rstrip() for line in text.get().splitlines()))


def plain(text: str) -> Text:
    """Text that others wrote: nothing in it is markup, and no escape sequence reaches the terminal."""
    return Text("".join(one if one.isprintable() or one == "\n" else "\N{REPLACEMENT CHARACTER}" for one in text))


def state_text(state: str, held_from: str | None = None) -> Text:
    """A bullet in the state's colour, and the state in words."""
    colour = _COLOURS.get(State(state), "cyan") if state in set(State) else "default"
    words = state.replace("_", " ") + (f" ({held_from.replace('_', ' ')})" if held_from else "")
    return Text.assemble(("● ", colour), words)


def short(seconds: float) -> str:
    """`45 s`, `4 min`, `5 h`, `3 d`: the unit that says enough."""
    for limit, size, unit in ((90, 1, "s"), (90 * 60, 60, "min"), (48 * 3600, 3600, "h")):
        if seconds < limit:
            return f"{max(0, round(seconds / size))} {unit}"
    return f"{round(seconds / 86400)} d"


def ago(at: datetime) -> str:
    """How long ago, short."""
    return short((datetime.now(UTC) - at).total_seconds())


def bare_table(*headings: str, breaks: int | None = None, cut: int | None = None) -> Table:
    """A table without lines. Where the width is too small, column number `breaks` is broken and `cut` is cut."""
    terminal = Console().is_terminal
    table = Table(
        box=None,
        pad_edge=False,
        header_style="bold",
        expand=terminal and cut is not None,
    )
    for number, heading in enumerate(headings):
        table.add_column(
            heading,
            no_wrap=number != breaks,
            overflow="ellipsis" if number == cut else "fold",
            ratio=1 if terminal and number == cut else None,
        )
    return table


def fields(pairs: Iterable[tuple[str, str | Text | None]]) -> Table:
    """Names and values; what is not known is left out."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None:
            grid.add_row(name, plain(value) if isinstance(value, str) else value)
    return grid
