"""Files by the digest of their content, created once and never changed: the blobs of an OCI image layout.

Layout (https://github.com/opencontainers/image-spec, image-layout.md): `<root>/blobs/sha256/<64 hex>`; a web server may
serve it as it is. Stores of before had `<root>/sha256/<2 hex>/<64 hex>`: such a file moves when somebody asks for it.
"""

import contextlib
import fcntl
import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from images.digest import Digest, digest_of, hex_of, parse_digest
from images.whole_files import sync_directory

_BLOCK_BYTES = 2**20


class ArtefactError(Exception):
    """The store cannot give or take a file; a subclass says why."""


class ArtefactAbsentError(ArtefactError):
    """There is no file of this digest."""


class ArtefactCorruptError(ArtefactError):
    """The bytes are not those of the digest."""


class ArtefactStore:
    """A directory of immutable files. Any number of processes may put, read and collect at once."""

    def __init__(self, root: Path) -> None:
        """Name the directory; it is made when the first file is put."""
        self.root = root

    @property
    def blobs(self) -> Path:
        """The folder of files, each named by the 64 hex digits of its content."""
        return self.root / "blobs" / "sha256"

    @property
    def unfinished(self) -> Path:
        """Files while they are written; one that lies here for long is of a process that was killed."""
        return self.root / "tmp"

    def put_bytes(self, content: bytes) -> Digest:
        """Store the bytes unless they are there already; return their digest."""
        digest = digest_of(content)
        if not self._is_present(digest, len(content)):
            self._write(io.BytesIO(content), digest)
        return digest

    def put_file(self, path: Path, expected: Digest | None = None) -> Digest:
        """Store a copy of the file; raise ArtefactCorruptError when it is not the expected content."""
        with path.open("rb") as file:
            digest = parse_digest(f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}")
            if expected is not None and digest != expected:
                raise ArtefactCorruptError(f"{path}: is {digest}, expected {expected}")
            if not self._is_present(digest, file.tell()):
                file.seek(0)
                self._write(file, digest)
        return digest

    def path(self, digest: Digest) -> Path:
        """Return where the file lies; raise ArtefactAbsentError when it is not there."""
        path = self._place(digest)
        if path.is_file():
            return path
        self._move_over(self._old_place(digest))
        if not path.is_file():
            raise ArtefactAbsentError(f"{digest}: not in {self.root}")
        return path

    def verify(self, digest: Digest) -> Path:
        """Read the whole file and return its path; raise ArtefactCorruptError when its bytes have changed."""
        path = self.path(digest)
        with path.open("rb") as file:
            actual = hashlib.file_digest(file, "sha256").hexdigest()
        if actual != hex_of(digest):
            raise ArtefactCorruptError(f"{path}: content is sha256:{actual}")
        return path

    def keep(self, digest: Digest) -> Path:
        """Return where the file lies, and count it as new for the collection: who points to it has its grace period.

        Raises ArtefactAbsentError.
        """
        with self.lock():
            path = self.path(digest)
            _count_as_new(path)
        return path

    def move_over(self) -> None:
        """Move what lies in the layout of before; nothing is copied, and who dies in it goes on the next time."""
        for folder in sorted((self.root / "sha256").glob("[0-9a-f][0-9a-f]")):
            for path in sorted(folder.glob("[0-9a-f]" * 64)):
                self._move_over(path)
            for path in folder.glob(".new-*"):
                path.unlink(missing_ok=True)  # of a writer that was killed
            _remove_empty(folder)
        _remove_empty(self.root / "sha256")

    @contextlib.contextmanager
    def lock(self, *, alone: bool = False) -> Iterator[None]:
        """Wait until nobody collects; with `alone`, until nobody at all is here. Held for moments, not for copies."""
        self.root.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.root / ".lock", os.O_RDONLY | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            yield
        finally:
            os.close(descriptor)

    def _place(self, digest: Digest) -> Path:
        return self.blobs / hex_of(parse_digest(digest))

    def _old_place(self, digest: Digest) -> Path:
        digits = hex_of(parse_digest(digest))
        return self.root / "sha256" / digits[:2] / digits

    def _move_over(self, old: Path) -> None:
        place = self.blobs / old.name
        if not old.is_file():
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # another process was quicker
            old.replace(place)
            sync_directory(place.parent)

    def _is_present(self, digest: Digest, size_bytes: int) -> bool:
        """Say whether a whole file is there, and count it as new; one of another size is written anew."""
        with contextlib.suppress(ArtefactAbsentError):
            return self.keep(digest).stat().st_size == size_bytes
        return False

    def _write(self, source: IO[bytes], digest: Digest) -> None:
        place = self._place(digest)
        for folder in (place.parent, self.unfinished):
            folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=self.unfinished, prefix="blob-", delete=False) as new:
            try:
                _copy_verified(source, new, digest)
                Path(new.name).chmod(0o444)
                with self.lock():
                    Path(new.name).replace(place)
            except BaseException:
                Path(new.name).unlink(missing_ok=True)
                raise
        sync_directory(place.parent)


def _count_as_new(path: Path) -> None:
    """Set the time of the last change of the inode to now, and leave the others: they go out in HTTP headers.

    A process that may read only cannot: what it points to has to be pinned by who collects.
    """
    known = path.stat()
    with contextlib.suppress(PermissionError):
        os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))


def _copy_verified(source: IO[bytes], target: IO[bytes], digest: Digest) -> None:
    """Copy to the disk and check what was copied; the source may have changed since it was hashed."""
    seen = hashlib.sha256()
    while block := source.read(_BLOCK_BYTES):
        seen.update(block)
        target.write(block)
    target.flush()
    os.fsync(target.fileno())
    if seen.hexdigest() != hex_of(digest):
        raise ArtefactCorruptError(f"{digest}: the source changed while it was copied")


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
