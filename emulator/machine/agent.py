"""The process that stands for the booted operating system."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from emulator.machine.board import Board

_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
_RESTART_SECONDS = 1.0
_SHORTEST_SECONDS = 0.2
_LONGEST_SECONDS = 5.0


class AgentProcess:
    """Runs one root until it is cancelled; started again when it dies, as an init system would."""

    def __init__(self, board: Board) -> None:
        """Nothing runs."""
        self._board = board
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """The process that runs now."""
        process = self._process
        return process.pid if process and process.returncode is None else None

    async def run(self, root: bytes, words: Sequence[str], started: Callable[[], None]) -> None:
        """Run `root` with these command line words; `started` is called when it first runs. Does not return."""
        directory = self._board.directory / "run"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        (directory / "root.pyz").write_bytes(root)
        pause = max(self._board.clock.wall_seconds(_RESTART_SECONDS), _SHORTEST_SECONDS)
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            await self._run_once(directory, words, started)
            pause = min(2 * pause, _LONGEST_SECONDS) if loop.time() - began < _LONGEST_SECONDS else pause
            await asyncio.sleep(pause)

    def kill(self) -> None:
        """Kill the process and its children."""
        pid = self.pid
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)

    async def _run_once(self, directory: Path, words: Sequence[str], started: Callable[[], None]) -> None:
        guard = _DIES_WITH_US if shutil.which(_DIES_WITH_US[0]) else ()
        with (directory / "console.txt").open("ab") as console:
            self._process = await asyncio.create_subprocess_exec(
                *guard,
                sys.executable,
                "-I",
                str(directory / "root.pyz"),
                *words,
                cwd=directory,
                env={"PATH": os.defpath, "HOME": str(directory), "TMPDIR": str(directory), "LANG": "C.UTF-8"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=console,
                stderr=console,
                start_new_session=True,
            )
        started()
        timer = self._plan_death()
        try:
            await self._process.wait()
        finally:
            if timer:
                timer.cancel()
            self.kill()
            await self._process.wait()

    def _plan_death(self) -> asyncio.TimerHandle | None:
        fault = self._board.faults.take("agent-killed")
        return asyncio.get_running_loop().call_later(float(fault["seconds"]), self.kill) if fault else None
