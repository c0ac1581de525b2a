"""What stands for the booted operating system: its init, which starts the agent again when it dies."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from emulator.machine.agent_process import AgentProcess
from emulator.machine.board import Board
from emulator.machine.surroundings import Surroundings
from emulator.netboot.fetch import File
from emulator.stand_in.service import Wire
from emulator.stand_in.stand_in import StandIn

_RESTART_SECONDS = 1.0
_SHORTEST_SECONDS = 0.2
_LONGEST_SECONDS = 5.0
_SQUASHFS = b"hsqs"


class Life(Protocol):
    """An agent that can live again and again."""

    @property
    def pid(self) -> int | None:
        """The process that runs now; None for what is no process."""

    @property
    def alive(self) -> bool:
        """Whether it runs now."""

    def prepare(self, root: File) -> None:
        """Take the root that was booted; its content is forgotten afterwards."""

    async def live(self, words: Sequence[str], started: Callable[[], None]) -> None:
        """Run once, with these command line words, until it ends or is killed; cancelled: until nothing is left."""

    def kill(self) -> None:
        """End it at once."""


class Agent:
    """Runs one root until it is cancelled; started again when it dies."""

    def __init__(self, board: Board, surroundings: Surroundings) -> None:
        """Nothing runs."""
        self._board = board
        self._surroundings = surroundings
        self._life: Life = self._stand_in() if surroundings.agent == "stand-in" else AgentProcess(board)

    @property
    def pid(self) -> int | None:
        """The process that runs now; None for a stand-in."""
        return self._life.pid

    @property
    def alive(self) -> bool:
        """Whether it runs now."""
        return self._life.alive

    def prepare(self, root: File) -> None:
        """Take the root of the next `run`; nothing here mounts a file system, so a stand-in speaks for such a root."""
        if self._surroundings.agent == "process":
            self._life = self._stand_in() if root.content.startswith(_SQUASHFS) else AgentProcess(self._board)
        self._life.prepare(root)

    def _stand_in(self) -> StandIn:
        board, around = self._board, self._surroundings
        return StandIn(board.persona, board.faults, board.clock, Wire(around.client, around.agents_at_once))

    async def run(self, words: Sequence[str], started: Callable[[], None]) -> None:
        """Run with these command line words; `started` is called whenever it begins. Does not return."""
        pause = max(self._board.clock.wall_seconds(_RESTART_SECONDS), _SHORTEST_SECONDS)
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            timer = self._plan_death()
            try:
                await self._life.live(words, started)
            finally:
                if timer:
                    timer.cancel()
            pause = min(2 * pause, _LONGEST_SECONDS) if loop.time() - began < _LONGEST_SECONDS else pause
            await asyncio.sleep(pause)

    def kill(self) -> None:
        """Kill what runs."""
        self._life.kill()

    def _plan_death(self) -> asyncio.TimerHandle | None:
        fault = self._board.faults.take("agent-killed")
        return asyncio.get_running_loop().call_later(float(fault["seconds"]), self.kill) if fault else None
