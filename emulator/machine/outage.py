"""The time around a restart of a BMC: how long it is away, and since when it is back."""

import time

from emulator.machine.board import Board


class Outage:
    """`ruined`: it will not serve again before its power is cut. `by_itself`: the last restart was its own."""

    def __init__(self, board: Board) -> None:
        """It has not been away yet."""
        self._board = board
        self._back_at: float | None = None
        self.by_itself = False
        self.ruined = False

    def begin(self, *, by_itself: bool) -> float:
        """The BMC restarts; how many seconds of the wall clock it will take no connection."""
        self._back_at = None
        self.by_itself = by_itself
        seconds = self._board.clock.wall_seconds(self._board.persona.durations.bmc_reset)
        late = self._board.faults.take("bmc-back-late")
        profile = self._board.faults.peek("bmc-outage-profile")
        more = (float(late["seconds"]) if late else 0.0) + (float(profile["refuse"]) if profile else 0.0)
        return seconds + self._board.clock.limit_seconds(more)

    def end(self) -> None:
        """It takes connections again."""
        self._back_at = time.monotonic()

    def within(self, seconds: float) -> bool:
        """Whether it is back for less than that (emulated seconds; at speed 0, of the wall clock)."""
        if self._back_at is None:
            return False
        return time.monotonic() - self._back_at < self._board.clock.limit_seconds(seconds)
