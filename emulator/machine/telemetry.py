"""Metric reports of one machine that are sent by themselves: while somebody waits for them, and not at all else."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from emulator.background import run_in_background
from emulator.machine.board import Board
from emulator.machine.streams import Streams
from emulator.machine.subscriptions import Subscriptions

_SHORTEST_SECONDS = 0.2  # between two rounds, however fast the clock runs


@dataclass(frozen=True, slots=True)
class Due:
    """A report that is sent every `seconds` emulated seconds: the path of its definition, and who makes it."""

    definition: str
    seconds: float
    make: Callable[[], dict[str, Any]]


class Telemetry:
    """`due` says which reports are sent; set by the service that shows them."""

    __slots__ = ("_board", "_streams", "_subscriptions", "_task", "due")

    def __init__(self, board: Board, subscriptions: Subscriptions, streams: Streams) -> None:
        """Nobody waits."""
        self._board = board
        self._subscriptions = subscriptions
        self._streams = streams
        self._task: asyncio.Task[None] | None = None
        self.due: Callable[[], Iterable[Due]] = lambda: ()

    def wake(self) -> None:
        """Begin to send when somebody waits for reports; call it when that may have begun."""
        waits = self._waits()
        if waits and (self._task is None or self._task.done()):
            self._task = run_in_background(self._send(), f"metric reports of {self._board.entry.name}")

    def send(self, definition: str, report: dict[str, Any]) -> None:
        """Send one report now to whoever waits for it."""
        self._subscriptions.offer_report(definition, report)
        self._streams.offer_report(definition, report)

    def stop(self) -> None:
        """Send nothing more."""
        if self._task:
            self._task.cancel()

    def _waits(self) -> bool:
        return self._subscriptions.wants_reports() or self._streams.wants_reports()

    async def _send(self) -> None:
        loop = asyncio.get_running_loop()
        sent: dict[str, float] = {}
        while self._waits():
            soonest = 60.0
            for due in self.due():
                pause = max(_SHORTEST_SECONDS, self._board.clock.wall_seconds(due.seconds))
                soonest = min(soonest, pause)
                if loop.time() - sent.get(due.definition, 0.0) >= pause * 0.99:
                    sent[due.definition] = loop.time()
                    self.send(due.definition, due.make())
            await asyncio.sleep(soonest)
