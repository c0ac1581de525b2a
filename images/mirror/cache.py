"""The cache folder: files by digest, what is on its way, and repositories made of them."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from images.mirror.errors import MirrorError


@dataclass(frozen=True, slots=True)
class MirrorCache:
    """`root` may be deleted at any time when nothing is built; all of it can be had again."""

    root: Path

    def package(self, sha256: str) -> Path:
        """Return where a whole package lies, or will."""
        return self.root / "packages" / sha256[:2] / f"{sha256}.deb"

    def part(self, sha256: str) -> Path:
        """Return where a file grows until it is whole."""
        return self.root / "parts" / sha256

    def index(self, sha256: str) -> Path:
        """Return where the packages of an index lie, as we read them."""
        return self.root / "indices" / f"{sha256}.json"

    def folder(self, key: str) -> Path:
        """Return where it is kept what the .deb files of a folder say."""
        return self.root / "folders" / f"{key}.json"

    def repository(self, key: str) -> Path:
        """Return where the packages of one lock stand as a repository."""
        return self.root / "repositories" / key

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        """Hold the lock `name` against every other process; a process that ends lets go."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / f"{name}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


@contextmanager
def disk_faults(folder: Path) -> Iterator[None]:
    """Say where and what to do when the disk is full, read-only or not ours."""
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        text = f"{where}: {error.strerror or error}; make room, or put data_dir where it can be written"
        raise MirrorError([text]) from error
