"""Reads fields of a package's header one after the other, never past the end of what they belong to."""

from typing import NoReturn

from provisioner.errors import PackageError
from provisioner.firmware.package.finding import Findings, Severity
from provisioner.firmware.package.model import Extent

REMEDY = "get the file from its maker again and compare its checksum"
_ENCODINGS = {0: "ascii", 1: "ascii", 2: "utf-8", 3: "utf-16", 4: "utf-16-le", 5: "utf-16-be"}


class FieldReader:
    """A part of the header. `place` names it, `end` is its first byte after; offsets count from the package's start."""

    def __init__(self, header: bytes, start: int, end: int, place: str, findings: Findings) -> None:
        """`header` has at least `end` bytes."""
        self._header = header
        self._place = place
        self.offset = start
        self.end = end
        self.findings = findings

    def number(self, name: str, size_bytes: int) -> int:
        """An unsigned number."""
        return int.from_bytes(self.data(name, size_bytes), "little")

    def data(self, name: str, size_bytes: int) -> bytes:
        """So many bytes."""
        extent = self.skip(name, size_bytes)
        return self._header[extent.offset : extent.end]

    def skip(self, name: str, size_bytes: int) -> Extent:
        """Where so many bytes are."""
        if size_bytes > self.end - self.offset:
            left = self.end - self.offset
            self.refuse(name, f"it has {size_bytes} bytes and only {left} are left of {self._place or 'the header'}")
        self.offset += size_bytes
        return Extent(self.offset - size_bytes, size_bytes)

    def text(self, name: str, kind: int, size_bytes: int) -> str:
        """A string of a type of DSP0267, without the NULs that some makers pad it with."""
        offset = self.offset
        data = self.data(name, size_bytes)
        encoding = _ENCODINGS.get(kind)
        if encoding is None:
            self.findings.add(Severity.WARNING, self.named(name), offset, f"unknown string type {kind}; read as ASCII")
        try:
            return data.decode(encoding or "ascii").rstrip("\0")
        except UnicodeDecodeError as error:
            said = f"it is no {(encoding or 'ascii').upper()}: {error.reason}"
            self.findings.add(Severity.WARNING, self.named(name), offset, said)
            return data.decode("ascii", "backslashreplace").rstrip("\0")

    def within(self, name: str, size_bytes: int) -> "FieldReader":
        """A reader of the next bytes alone, which are a part named `name`."""
        place = self.named(name)
        start = self.skip(name, size_bytes).offset
        return FieldReader(self._header, start, start + size_bytes, place, self.findings)

    def finish(self, what: str) -> None:
        """Refuse bytes that belong to nothing."""
        if self.offset != self.end:
            left = self.end - self.offset
            self.refuse("length", f"{left} bytes are left after {what}: it disagrees with its parts")

    def named(self, name: str) -> str:
        """The whole name of a field of this part."""
        return f"{self._place}, {name}" if self._place else name

    def refuse(self, name: str, problem: str, offset: int | None = None) -> NoReturn:
        """Raise `PackageError` about a field, which is the next one unless `offset` says otherwise."""
        raise PackageError(self.named(name), self.offset if offset is None else offset, problem, REMEDY)
