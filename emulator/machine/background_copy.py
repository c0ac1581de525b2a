"""After an activation a device makes its second slot equal to the first; a flash meanwhile is refused or unsafe."""

import asyncio

from emulator.machine.board import Board


class BackgroundCopy:
    """The copies that run on one machine; they go on where they were when its power comes back."""

    def __init__(self, board: Board) -> None:
        """Nothing runs before `resume`."""
        self._board = board
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def runs(self, key: str) -> bool:
        """Whether the second slot of a device is being written."""
        return key in self._board.state.copying

    def begin(self, key: str, seconds: float) -> None:
        """Copy the slot that runs now; 0 seconds: this device never does."""
        if seconds <= 0:
            return
        if key not in self._board.state.copying:
            self._board.state.copying.append(key)
        self._start(key, seconds)

    def resume(self) -> None:
        """Begin again what was interrupted."""
        for key in self._board.state.copying:
            component = self._board.persona.slots[key].component
            self._start(key, self._board.persona.components[component].background_copy_seconds)

    def stop(self, key: str) -> None:
        """It does not go on; the second slot holds nothing of use."""
        self._cancel(key)
        if key in self._board.state.copying:
            self._board.state.copying.remove(key)

    def pause(self) -> None:
        """The power is gone."""
        for key in list(self._timers):
            self._cancel(key)

    def _start(self, key: str, seconds: float) -> None:
        self._cancel(key)
        wall = self._board.clock.wall_seconds(seconds)
        self._timers[key] = asyncio.get_running_loop().call_later(wall, self._end, key)

    def _end(self, key: str) -> None:
        self._timers.pop(key, None)
        self._board.state.copying.remove(key)
        self._board.state.previous[key] = self._board.version(key)
        self._board.save()

    def _cancel(self, key: str) -> None:
        timer = self._timers.pop(key, None)
        if timer:
            timer.cancel()
