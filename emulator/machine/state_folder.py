"""Where the states of all machines are kept: one folder for each machine, or nowhere.

A state is written when it differs from what is kept, once however often it changed, and before the BMC answers.
A machine at which nothing happens writes nothing.
"""

import asyncio
import shutil
import tempfile
from pathlib import Path

import structlog

from emulator.errors import ConfigError
from emulator.machine.state import State, packed, read_state, write_state

_FILE = "state.json"
_log = structlog.get_logger()


class StateFolder:
    """`path` None: states are lost with the process, and machines keep their files in a temporary folder."""

    def __init__(self, path: Path | None) -> None:
        """Nothing is made before it is needed."""
        self._path = path
        self._temporary: Path | None = None
        self._kept: dict[str, bytes] = {}  # by machine, what its file holds or what the factory gave it
        self._changed: dict[str, State] = {}
        self._planned = False

    @property
    def keeps(self) -> bool:
        """Whether what is kept here outlives the process."""
        return self._path is not None

    def open(self, name: str, factory: State) -> State:
        """The state of a machine as it was last kept, or `factory`. Raises ConfigError."""
        if self._path is None:
            return factory
        path = self._path / name / _FILE
        try:
            state = read_state(path) or factory
        except (OSError, ValueError, TypeError) as error:
            raise ConfigError(f"{path}: cannot be read: {error}; remove it to start with a new machine") from error
        self._kept[name] = packed(state)
        return state

    def save(self, name: str, state: State) -> None:
        """Keep `state` at the end of this turn of the event loop, or at the next `flush`."""
        if self._path is None:
            return
        self._changed[name] = state
        if self._planned:
            return
        try:
            asyncio.get_running_loop().call_soon(self.flush)
        except RuntimeError:
            return  # in a thread of sushy-tools; its answer waits for `flush`
        self._planned = True

    def flush(self) -> None:
        """Write what has changed. What cannot be written is tried again with the next change."""
        self._planned = False
        for name in list(self._changed):
            state = self._changed.pop(name)
            try:
                self._write(name, state)
            except OSError as error:
                _log.error("state not kept", bmc=name, reason=str(error))
                self._changed[name] = state

    def directory(self, name: str) -> Path:
        """The folder for the files of a machine; it is there afterwards."""
        directory = self._root() / name
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def close(self) -> None:
        """Write what has changed and remove what does not outlive the process."""
        self.flush()
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _root(self) -> Path:
        if self._path is not None:
            return self._path
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="firstlight-emulator-"))
        return self._temporary

    def _write(self, name: str, state: State) -> None:
        content = packed(state)
        if content != self._kept.get(name):
            write_state(self.directory(name) / _FILE, content)
            self._kept[name] = content
