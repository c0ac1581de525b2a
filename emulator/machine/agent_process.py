"""The root as a process of its own."""

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from emulator.machine.board import Board
from emulator.netboot.boot_error import BootError
from emulator.netboot.fetch import File, shown

_DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")


class AgentProcess:
    """Runs a root, which is a Python archive, in a folder of its own."""

    def __init__(self, board: Board) -> None:
        """Nothing runs, and nothing is on the disk."""
        self._board = board
        self._process: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """The process that runs now."""
        process = self._process
        return process.pid if process and process.returncode is None else None

    @property
    def alive(self) -> bool:
        """Whether it runs now."""
        return self.pid is not None

    def prepare(self, root: File) -> None:
        """Write the root to an empty directory. Raises BootError for one that the emulator does not hold."""
        if not root.complete:
            raise BootError(f"{shown(root.url)} is too large to be run as a process; with agent: stand-in it boots")
        directory = self._directory
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        (directory / "root.pyz").write_bytes(root.content)

    async def live(self, words: Sequence[str], started: Callable[[], None]) -> None:
        """Run once."""
        guard = _DIES_WITH_US if shutil.which(_DIES_WITH_US[0]) else ()
        directory = self._directory
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
        try:
            await self._process.wait()
        finally:
            self.kill()
            await self._process.wait()

    @property
    def _directory(self) -> Path:
        return self._board.directory / "run"

    def kill(self) -> None:
        """Kill the process and its children."""
        pid = self.pid
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
