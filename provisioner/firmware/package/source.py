"""Where the bytes of a firmware file come from: any buffer, such as a memory map, or an open file.

A file is read at offsets and never mapped: a map of a file that somebody cuts short kills the process (SIGBUS).
"""

import hashlib
import mmap
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from provisioner.errors import BadInput, PackageError

CHUNK_BYTES = 2**20

Buffer = bytes | bytearray | memoryview | mmap.mmap


class Source(Protocol):
    """A file of known size, read in pieces."""

    @property
    def size_bytes(self) -> int:
        """Of the whole file."""

    def read(self, offset: int, size_bytes: int) -> bytes:
        """Exactly so many bytes, which the caller knows to be there. Raises `PackageError` where they are gone."""


class BufferSource:
    """Bytes in memory, or in a memory map."""

    def __init__(self, buffer: Buffer) -> None:
        """The buffer must stay as it is while this is used."""
        self._view = memoryview(buffer).cast("B")

    @property
    def size_bytes(self) -> int:
        """Of the buffer."""
        return len(self._view)

    def read(self, offset: int, size_bytes: int) -> bytes:
        """A copy of that part."""
        return _whole(bytes(self._view[offset : offset + size_bytes]), offset, size_bytes)


class FileSource:
    """An open file that can be read at any offset."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor` stays the caller's to close."""
        self._descriptor = descriptor
        self._size_bytes = os.fstat(descriptor).st_size

    @property
    def size_bytes(self) -> int:
        """When it was opened."""
        return self._size_bytes

    def read(self, offset: int, size_bytes: int) -> bytes:
        """Read on until all of it is there; raises `PackageError` for a file that has become shorter."""
        parts = bytearray()
        while len(parts) < size_bytes:
            part = os.pread(self._descriptor, size_bytes - len(parts), offset + len(parts))
            if not part:
                break
            parts += part
        return _whole(bytes(parts), offset, size_bytes)


class Window:
    """A part of another source, with offsets of its own."""

    def __init__(self, source: Source, offset: int, size_bytes: int) -> None:
        """The part has to lie within `source`."""
        self._source = source
        self._offset = offset
        self._size_bytes = size_bytes

    @property
    def size_bytes(self) -> int:
        """Of the part."""
        return self._size_bytes

    def read(self, offset: int, size_bytes: int) -> bytes:
        """As if the part were a file."""
        return self._source.read(self._offset + offset, size_bytes)


@contextmanager
def opened(path: Path) -> Iterator[FileSource]:
    """The file, as long as the block runs. Raises `BadInput` where it cannot be read."""
    try:
        with path.open("rb", buffering=0) as file:
            if not path.is_file():
                raise BadInput(f"{path}: not a file; name the firmware file itself")
            yield FileSource(file.fileno())
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror or error}; name a firmware file that can be read") from error


def chunks(source: Source, start: int, end: int) -> Iterator[bytes]:
    """The bytes from `start` up to `end`, at most `CHUNK_BYTES` at a time."""
    for offset in range(start, end, CHUNK_BYTES):
        yield source.read(offset, min(CHUNK_BYTES, end - offset))


def crc32_of(source: Source, start: int, end: int) -> int:
    """CRC-32 (IEEE) of a part."""
    total = 0
    for chunk in chunks(source, start, end):
        total = zlib.crc32(chunk, total)
    return total


def sha256_of(source: Source) -> str:
    """The digest of all of it, in hexadecimal."""
    digest = hashlib.sha256()
    for chunk in chunks(source, 0, source.size_bytes):
        digest.update(chunk)
    return digest.hexdigest()


def _whole(data: bytes, offset: int, wanted_bytes: int) -> bytes:
    if len(data) != wanted_bytes:
        raise PackageError("file", offset + len(data), "it has become shorter while it was read", "copy it here again")
    return data
