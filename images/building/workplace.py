"""Where builds work: trees that vanish with their builder, and locks by which one waits for the other."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_OWNER = "owner.lock"


@contextmanager
def workplace(folder: Path) -> Iterator[Path]:
    """A new folder below `folder`, removed in the end; those of builders that died are removed first.

    A builder holds a lock inside its folder, and the system takes the lock away when the builder ends, however it ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with waited_lock(folder / "all.lock", None):
        for other in folder.iterdir():
            if other.is_dir() and _is_left_behind(other):
                shutil.rmtree(other)
        own = Path(tempfile.mkdtemp(prefix="build-", dir=folder))
        own.chmod(0o755)  # programs of the image drop their rights and still have to reach it
        lock = os.open(own / _OWNER, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield own
    finally:
        shutil.rmtree(own)
        os.close(lock)


@contextmanager
def waited_lock(path: Path, waits: Callable[[], None] | None) -> Iterator[None]:
    """Hold the lock; `waits` is called once when somebody else has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waits:
                waits()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _is_left_behind(folder: Path) -> bool:
    try:
        lock = os.open(folder / _OWNER, os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    else:
        return True
    finally:
        os.close(lock)
