"""A tar file of plain files, in a form so narrow that reading it costs no more than its bytes (POSIX.1-1988, ustar).

Other tools read and list it. We read nothing but what we write: no links, folders, devices, sparse files, extended
headers, long names or owners; every member stands once.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from images.bundle.errors import COPY_AGAIN, BundleError

BLOCK = 512
_CHUNK = 2**20
_LARGEST = 8**11 - 1
"""Bytes of one file: eleven octal digits."""
_NAME = re.compile(
    r"bundle\.json|oci-layout|index\.json|tuf/(timestamp|[1-9]\d{0,8}\.(root|targets|snapshot))\.json"
    r"|blobs/sha256/[0-9a-f]{64}",
    re.ASCII,
)
_END = "the end of the archive"


@dataclass(frozen=True, slots=True)
class Member:
    """One file in the archive."""

    name: str
    size_bytes: int


class Writer:
    """Write members one after the other. Equal members give equal bytes, whenever and by whomever."""

    def __init__(self, file: IO[bytes]) -> None:
        """Nothing is written yet."""
        self._file = file

    def add(self, name: str, source: IO[bytes], size_bytes: int) -> None:
        """Raises BundleError when the file is too large, or not as long as was said."""
        if size_bytes > _LARGEST:
            raise BundleError(name, f"has {size_bytes} bytes, more than a bundle can hold", "make the image smaller")
        self._file.write(_header(Member(name, size_bytes)))
        left = size_bytes
        while left and (chunk := source.read(min(left, _CHUNK))):
            self._file.write(chunk)
            left -= len(chunk)
        if left or source.read(1):
            raise BundleError(name, f"has not the {size_bytes} bytes that its manifest says", "build the image again")
        self._file.write(b"\0" * (-size_bytes % BLOCK))

    def finish(self) -> None:
        """Two empty blocks."""
        self._file.write(b"\0" * (2 * BLOCK))


class Reader:
    """Read members in their order; each is read, or passed over, before the next one."""

    def __init__(self, file: IO[bytes]) -> None:
        """Nothing is read yet."""
        self._file = file
        self._left = 0
        self._padding = 0
        self._current = "the beginning of the archive"
        self._seen: set[str] = set()

    def members(self) -> Iterator[Member]:
        """Raises BundleError for anything but a whole archive of ours."""
        while True:
            self.skip()
            if self._exactly(self._padding).strip(b"\0"):
                raise BundleError(self._current, "is not followed by zeros: it is damaged", COPY_AGAIN)
            block = self._exactly(BLOCK)
            if block == b"\0" * BLOCK:
                if self._exactly(BLOCK) != b"\0" * BLOCK:
                    raise BundleError(_END, "another file begins behind it", COPY_AGAIN)
                if self._file.read(1):
                    raise BundleError(_END, "something follows behind it", COPY_AGAIN)
                return
            member = _member(block, self._current)
            if member.name in self._seen:
                raise BundleError(member.name, "stands there twice", COPY_AGAIN)
            self._seen.add(member.name)
            self._current, self._left = member.name, member.size_bytes
            self._padding = -member.size_bytes % BLOCK
            yield member

    def chunks(self) -> Iterator[bytes]:
        """The bytes of the member that was yielded last."""
        while self._left:
            chunk = self._exactly(min(self._left, _CHUNK))
            self._left -= len(chunk)
            yield chunk

    def skip(self) -> None:
        """Pass over what is left of the member; whether all of it is there shows with what follows."""
        if self._file.seekable():
            self._file.seek(self._left, 1)
            self._left = 0
        for _ in self.chunks():
            pass

    def _exactly(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            more = self._file.read(count - len(content))
            if not more:
                raise BundleError(self._current, "the file ends in it or right behind it: it is cut off", COPY_AGAIN)
            content += more
        return content


def _header(member: Member) -> bytes:
    fields = (
        member.name.encode().ljust(100, b"\0"),
        b"0000644\0" + b"0000000\0" * 2,
        b"%011o\0" % member.size_bytes,
        b"0" * 11 + b"\0",
        b" " * 8,
        b"0" + b"\0" * 100,
        b"ustar\x0000",
        b"\0" * 64,
        b"0000000\0" * 2,
        b"\0" * 167,
    )
    block = b"".join(fields)
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _member(block: bytes, before: str) -> Member:
    """Only what `_header` writes, byte for byte, is a member."""
    name = block[:100].rstrip(b"\0").decode("ascii", "replace")
    size = block[124:135]
    if not _NAME.fullmatch(name) or not re.fullmatch(rb"[0-7]{11}", size):
        shown = name if name.isprintable() else ascii(name)
        raise BundleError(shown[:120] or f"what follows {before}", "is no member of a bundle of ours", COPY_AGAIN)
    member = Member(name, int(size, 8))
    if block != _header(member):
        raise BundleError(name, "is no plain file, or its header is damaged", COPY_AGAIN)
    return member
