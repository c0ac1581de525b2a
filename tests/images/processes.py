"""What runs on this machine, and waiting for it to change."""

import time
from collections.abc import Callable
from pathlib import Path


def wait(condition: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait until the condition holds; fail after so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def children_of(pid: int) -> list[int]:
    """Return the direct children of a process's first thread."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    """Say whether the process exists and has not ended; init may be slow to take note of the end."""
    return _state_and_group(Path(f"/proc/{pid}/stat"))[0] not in {"", "Z", "X"}


def running_in_group(group: int) -> list[Path]:
    """Return the processes of a process group that have not ended."""
    found = {path: _state_and_group(path) for path in Path("/proc").glob("[0-9]*/stat")}
    return [path for path, (state, of) in found.items() if of == group and state not in {"Z", "X"}]


def _state_and_group(stat: Path) -> tuple[str, int]:
    try:
        fields = stat.read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "", 0
    return fields[0], int(fields[2])
