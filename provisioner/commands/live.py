"""All nodes on one screen, while they go from dark to ready. Pure: data in, picture out."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from provisioner.capabilities.clock import Clock
from provisioner.clock import PacedClock
from provisioner.commands.console import plain, short, state_text
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.operation import Progress
from provisioner.services.glance import Glance, glance

_BAR_COLUMNS = 12


def render(
    nodes: Sequence[Node],
    progress: Sequence[Progress],
    url: str,
    elapsed: float,
    clock: Clock | None = None,
) -> RenderableType:
    """One line per node, then a summary. `elapsed`: seconds; without a `clock` nobody can say how long it takes."""
    current = {one.node: one for one in progress}
    seen = [glance(node, current.get(node.name), clock or PacedClock()) for node in nodes]
    table = Table.grid(padding=(0, 1), expand=True)
    for _ in range(3):
        table.add_column(no_wrap=True)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column(no_wrap=True, justify="right")
    for one in seen:
        table.add_row(*_row(one, timed=clock is not None))
    return Group(table, Text(), _summary(seen, elapsed), Text(f"API {url}", style="bright_black"))


def _row(seen: Glance, *, timed: bool) -> tuple[RenderableType, ...]:
    node = seen.node
    colour = "red" if node.hold else "cyan"
    bar = ProgressBar(total=1.0, completed=seen.way, width=_BAR_COLUMNS, complete_style=colour, finished_style="green")
    doing = node.hold.instruction.what if node.hold else seen.doing
    if seen.percent is not None and node.hold is None:
        doing += f" ({seen.percent:.0f} %)"
    left = short(seen.left.total_seconds()) if timed and seen.left is not None else ""
    place = f"{node.rack}/{node.position:<2}"
    return Text(place), state_text(node.state), bar, plain(doing), Text(left, style="bright_black")


def _summary(seen: Sequence[Glance], elapsed: float) -> Text:
    ready = sum(one.node.state is State.READY for one in seen)
    held = sum(one.node.hold is not None for one in seen)
    return Text.assemble(
        (f"{ready} ready", "bold green" if ready else "bold"),
        ", ",
        (f"{held} held", "bold red" if held else "bold"),
        f", {len(seen) - ready - held} on the way, {elapsed / 60:.1f} min",
    )
