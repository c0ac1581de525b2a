"""What a person sees of a build: a bar on a terminal, a line a stage elsewhere. Both on standard error."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from images.building.request import Report, Stage
from provisioner.commands.console import plain, short


@contextmanager
def build_report(name: str) -> Iterator[Report]:
    """Yield what a build tells its progress to."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        lines = _Lines(name, console)
        yield lines
        lines.end()
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        bar = _Bar(name, progress)
        yield bar
        bar.end()


class _Lines:
    """One line when a stage is over, with its time."""

    def __init__(self, name: str, console: Console) -> None:
        self._name = name
        self._console = console
        self._running: Stage | None = None
        self._since = 0.0

    def begin(self, stage: Stage) -> None:
        self.end()
        self._running, self._since = stage, time.monotonic()
        self.say(f"{stage.value} ...")

    def end(self) -> None:
        if self._running:
            self.say(f"{self._running.value}: done in {short(time.monotonic() - self._since)}")
        self._running = None

    def progress(self, done: int, total: int) -> None:
        """Lines do not move."""

    def say(self, text: str) -> None:
        self._console.print(plain(f"{self._name}: {text}"), soft_wrap=True)


class _Bar:
    """One row a stage."""

    def __init__(self, name: str, progress: Progress) -> None:
        self._name = name
        self._progress = progress
        self._row: TaskID | None = None

    def begin(self, stage: Stage) -> None:
        self.end()
        self._row = self._progress.add_task(f"{self._name}: {stage.value}", total=None)

    def end(self) -> None:
        if self._row is not None:
            self._progress.update(self._row, total=1, completed=1)

    def progress(self, done: int, total: int) -> None:
        if self._row is not None:
            self._progress.update(self._row, total=total, completed=done)

    def say(self, text: str) -> None:
        self._progress.console.print(plain(f"{self._name}: {text}"))
