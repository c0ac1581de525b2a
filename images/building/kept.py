"""Results of stages, by the digest of what went into them: `<folder>/<kind>/<key>`."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from images.building.workplace import waited_lock

_KEPT = 4  # of each kind; a root before customising takes 0.3 to 4 GB


@dataclass(frozen=True, slots=True)
class Kept:
    """The folder of one data directory. Any number of builds may use it at once."""

    folder: Path

    def file(self, kind: str, key: str, make: Callable[[Path], None], waits: Callable[[], None]) -> Path:
        """Return the file of the key; `make` writes it when it is not there, and only one builder does.

        Files that nobody asked for in a while go away.
        """
        place = self.folder / kind / key
        with waited_lock(self.folder / kind / f".{key}.lock", waits):
            if not place.exists():
                new = place.with_name(f".{key}.new")
                new.unlink(missing_ok=True)  # of a builder that died; who holds the lock is the only one
                try:
                    make(new)
                    _sync(new)
                    new.replace(place)
                finally:
                    new.unlink(missing_ok=True)
            os.utime(place)
        self._forget_the_oldest(kind)
        return place

    def _forget_the_oldest(self, kind: str) -> None:
        files = [path for path in (self.folder / kind).iterdir() if not path.name.startswith(".")]
        for path in sorted(files, key=lambda one: one.stat().st_mtime)[:-_KEPT]:
            path.unlink(missing_ok=True)  # its lock stays: somebody may wait at it


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
