"""Files by the digest of their content, created once and never changed.

Layout: `<root>/sha256/<first 2 hex>/<64 hex>`; a web server may serve it as it is.
"""

import hashlib
import io
import os
import tempfile
from pathlib import Path
from typing import IO

from images.digest import Digest, digest_of, hex_of, parse_digest

_BLOCK_BYTES = 2**20


class ArtefactError(Exception):
    """The store cannot give or take a file; a subclass says why."""


class ArtefactAbsentError(ArtefactError):
    """There is no file of this digest."""


class ArtefactCorruptError(ArtefactError):
    """The bytes are not those of the digest."""


class ArtefactStore:
    """A directory of immutable files. Any number of processes may put and read at once."""

    def __init__(self, root: Path) -> None:
        """Name the directory; it is made when the first file is put."""
        self.root = root

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

    def _place(self, digest: Digest) -> Path:
        digits = hex_of(parse_digest(digest))
        return self.root / "sha256" / digits[:2] / digits

    def _is_present(self, digest: Digest, size_bytes: int) -> bool:
        """Say whether a whole file is there; one of another size (a lost write) is written anew."""
        try:
            return self._place(digest).stat().st_size == size_bytes
        except FileNotFoundError:
            return False

    def _write(self, source: IO[bytes], digest: Digest) -> None:
        place = self._place(digest)
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".new-", delete=False) as new:
            try:
                _copy_verified(source, new, digest)
                Path(new.name).chmod(0o444)
                Path(new.name).replace(place)
            except BaseException:
                Path(new.name).unlink(missing_ok=True)
                raise
        _sync_directory(place.parent)


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


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
