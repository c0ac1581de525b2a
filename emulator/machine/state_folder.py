"""Where the states of all machines are kept: one folder for each machine, or nowhere.

A state is written when it differs from what is kept, once however often it changed, and before the BMC answers.
A machine at which nothing happens writes nothing.
"""

import asyncio
import hashlib
import os
import secrets
import shutil
import tempfile
from pathlib import Path

import structlog

from emulator.errors import ConfigError, writing_into
from emulator.machine.state import State, packed, read_state, write_secret

_FILE = "state.json"
_log = structlog.get_logger()


class StateFolder:
    """`path` None: states are lost with the process, and so are the files of the machines."""

    def __init__(self, path: Path | None) -> None:
        """No files are made before they are needed. Raises ConfigError for a folder that cannot be written to."""
        if path is not None:
            _make(path)
        self._path = path
        self._files = path or Path(tempfile.gettempdir()) / f"firstlight-emulator-{secrets.token_hex(8)}"
        self._kept: dict[str, bytes] = {}  # by machine, the digest of what its file holds or the factory gave it
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
        self._kept[name] = _digest(packed(state))
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
        """The folder for the files of a machine; whoever needs it makes it."""
        return self._files / name

    def close(self) -> None:
        """Write what has changed and remove what does not outlive the process."""
        self.flush()
        if self._path is None:
            shutil.rmtree(self._files, ignore_errors=True)

    def _write(self, name: str, state: State) -> None:
        content = packed(state)
        digest = _digest(content)
        if digest != self._kept.get(name):
            directory = self.directory(name)
            directory.mkdir(parents=True, exist_ok=True)
            write_secret(directory / _FILE, content)
            self._kept[name] = digest


def _make(path: Path) -> None:
    with writing_into(path):
        path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK | os.X_OK):
        raise ConfigError(f"{path}: states cannot be kept there: it cannot be written to")


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=16).digest()
