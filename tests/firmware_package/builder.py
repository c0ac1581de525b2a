"""Writes firmware packages in the form of DSP0267 1.0 to 1.3, from the standard's tables and no code of the product.

Every field can be set, also to what the standard does not allow; checksums are right unless a test spoils them.
"""

import struct
import uuid
import zlib
from dataclasses import dataclass, field

UUIDS = {
    1: "f018878c-cb7d-4943-9800-a02f059aca02",
    2: "1244d264-8d7d-4718-a030-fc8a56587d5a",
    3: "3119ce2f-e80a-4a99-af6d-46f8b121f6bf",
    4: "7b291c99-6db6-4208-801b-02026e463c78",
}
CHRISTMAS_2021 = bytes.fromhex("0000000000000000190ce50700")
"""Of the public test packages: 2021-12-25, midnight, UTC; thirteen bytes."""


@dataclass
class Text:
    data: bytes = b""
    kind: int = 1


def ascii_text(words: str) -> Text:
    return Text(words.encode("ascii"))


def descriptor(kind: int, data: bytes) -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def vendor_descriptor(title: str, data: bytes) -> bytes:
    return descriptor(0xFFFF, struct.pack("<BB", 1, len(title)) + title.encode() + data)


def manifest(body: int, vendor: bytes, data: bytes) -> bytes:
    return struct.pack("<BB", body, len(vendor)) + vendor + data


@dataclass
class Record:
    """A device record; a downstream one where `downstream`. `version` is its string, whatever it means."""

    descriptors: list[bytes] = field(default_factory=lambda: [descriptor(1, struct.pack("<I", 5703))])
    version: Text = field(default_factory=Text)
    flags: int = 0
    applicable: set[int] = field(default_factory=set)
    package_data: bytes = b""
    manifest: bytes = b""
    stamp: int = 0
    count: int | None = None
    longer: int = 0

    def encode(self, revision: int, bitmap_bytes: int, *, downstream: bool = False) -> bytes:
        bitmap = sum(1 << one for one in self.applicable).to_bytes(bitmap_bytes, "little")
        count = len(self.descriptors) if self.count is None else self.count
        head = struct.pack(
            "<BIBBH", count, self.flags, self.version.kind, len(self.version.data), len(self.package_data)
        )
        if revision == 4:
            head += struct.pack("<I", len(self.manifest))
        body = head + bitmap + self.version.data
        if downstream and self.flags & 1:
            body += struct.pack("<I", self.stamp)
        body += b"".join(self.descriptors) + self.package_data + (self.manifest if revision == 4 else b"")
        return struct.pack("<H", len(body) + 2 + self.longer) + body


@dataclass
class Image:
    """A component. `offset`: None puts it behind the one before it."""

    data: bytes = b"x" * 27
    version: Text = field(default_factory=Text)
    classification: int = 10
    identifier: int = 100
    stamp: int = 0xFFFFFFFF
    options: int = 0
    activation: int = 0
    offset: int | None = None
    size: int | None = None
    opaque: bytes = b""

    def encode(self, revision: int, offset: int) -> bytes:
        place = offset if self.offset is None else self.offset
        size = len(self.data) if self.size is None else self.size
        fixed = struct.pack("<HHIHH", self.classification, self.identifier, self.stamp, self.options, self.activation)
        head = fixed + struct.pack("<IIBB", place, size, self.version.kind, len(self.version.data)) + self.version.data
        return head + (struct.pack("<I", len(self.opaque)) + self.opaque if revision > 2 else b"")


@dataclass
class Built:
    """A package to be written."""

    revision: int = 1
    version: Text = field(default_factory=Text)
    released: bytes = CHRISTMAS_2021
    bits: int = 8
    records: list[Record] = field(default_factory=list)
    downstream: list[Record] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    padding: bytes = b""

    def encode(self) -> bytes:
        size = len(self._header(0))
        header = self._header(size)
        return header + self._payload()

    def _payload(self) -> bytes:
        return b"".join(one.data for one in self.images)

    def _header(self, size: int) -> bytes:
        records = b"".join(one.encode(self.revision, -(-self.bits // 8)) for one in self.records)
        start = uuid.UUID(UUIDS[self.revision]).bytes + struct.pack("<BH", self.revision, size) + self.released
        start += struct.pack("<HBB", self.bits, self.version.kind, len(self.version.data)) + self.version.data
        start += bytes([len(self.records)]) + records
        if self.revision > 1:
            downstream = (one.encode(self.revision, -(-self.bits // 8), downstream=True) for one in self.downstream)
            start += bytes([len(self.downstream)]) + b"".join(downstream)
        start += struct.pack("<H", len(self.images))
        offset = size
        for image in self.images:
            start += image.encode(self.revision, offset)
            offset += len(image.data)
        start += self.padding
        start += struct.pack("<I", zlib.crc32(start))
        return start + (struct.pack("<I", zlib.crc32(self._payload())) if self.revision == 4 else b"")


def resigned(package: bytes) -> bytes:
    """The package with checksums that fit what it now says, where its header size can be believed."""
    content = bytearray(package)
    (size,) = struct.unpack_from("<H", content, 17)
    end = size - (8 if content[16] == 4 else 4)
    if end < 36 or size > len(content):
        return bytes(content)
    struct.pack_into("<I", content, end, zlib.crc32(content[:end]))
    if content[16] == 4:
        struct.pack_into("<I", content, end + 4, zlib.crc32(content[size:]))
    return bytes(content)


def patched(package: bytes, at: int, value: bytes) -> bytes:
    """The package with these bytes there, and checksums that fit."""
    content = bytearray(package)
    content[at : at + len(value)] = value
    return resigned(bytes(content))
