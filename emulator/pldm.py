"""Firmware packages in the form of DSP0267 ("PLDM for firmware update"): what one is for, read with care.

Only what the emulated BMCs need: the component images with their versions, and the device records: the set-version
strings name the component classes, NVIDIA's vendor-defined descriptors the devices. Everything is bounded by the sizes
that the package itself declares.
"""

import struct
import zlib
from dataclasses import dataclass

UUIDS = {
    bytes.fromhex("f018878ccb7d49439800a02f059aca02"): 1,
    bytes.fromhex("1244d2648d7d4718a030fc8a56587d5a"): 2,
    bytes.fromhex("3119ce2fe80a4a99af6d46f8b121f6bf"): 3,
    bytes.fromhex("7b291c996db64208801b02026e463c78"): 4,
}
_ENCODINGS = {1: "ascii", 2: "utf-8", 3: "utf-16", 4: "utf-16-le", 5: "utf-16-be"}
_FIXED = 36
_VENDOR_DEFINED = 0xFFFF
_SKU_TITLES = (b"APSKU", b"ECSKU")


@dataclass(frozen=True, slots=True)
class Component:
    """One component image."""

    classification: int
    identifier: int
    version: str
    offset: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Record:
    """Firmware for one kind of device. `names`: its set-version string, split at commas; `applicable`: components.

    `sku`: of its vendor-defined descriptor APSKU or ECSKU, in hexadecimal; empty where it has none. `continues`: when
    one component fails, the others are written all the same.
    """

    names: tuple[str, ...]
    applicable: tuple[int, ...]
    sku: str
    continues: bool


@dataclass(frozen=True, slots=True)
class PldmPackage:
    """`records`: one for each kind of device that it is for."""

    version: str
    records: tuple[Record, ...]
    components: tuple[Component, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of all records."""
        return tuple(name for record in self.records for name in record.names)


class _Reader:
    """Reads on, never past the end."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def take(self, size: int) -> bytes:
        if self.at + size > len(self.data):
            raise ValueError("the header of the firmware package ends too early")
        self.at += size
        return self.data[self.at - size : self.at]

    def numbers(self, form: str) -> tuple[int, ...]:
        return struct.unpack(f"<{form}", self.take(struct.calcsize(f"<{form}")))

    def text(self, kind: int, size: int) -> str:
        return self.take(size).decode(_ENCODINGS.get(kind, "ascii"), "replace").rstrip("\0")


def is_pldm(start: bytes) -> bool:
    """Whether this is how such a package starts."""
    return start[:16] in UUIDS


def read_pldm(start: bytes, size_bytes: int) -> PldmPackage:
    """The package that begins with `start` and has `size_bytes` in all. Raises ValueError."""
    revision = UUIDS[start[:16]]
    declared, header_bytes = struct.unpack_from("<BH", start.ljust(_FIXED, b"\0"), 16)
    if declared != revision:
        raise ValueError(f"the firmware package says revision {declared}, its identifier says {revision}")
    if not _FIXED + 7 <= header_bytes <= min(len(start), size_bytes):
        raise ValueError(f"the header of the firmware package cannot have {header_bytes} bytes")
    _check_sum(start, header_bytes, revision)
    reader = _Reader(start[:header_bytes], 32)
    bits, kind, length = reader.numbers("HBB")
    if bits % 8:
        raise ValueError("the component bitmap of the firmware package is no whole number of bytes")
    version = reader.text(kind, length)
    records = _records(reader, bits // 8, revision)
    if revision > 1:
        _skip_downstream(reader)
    components = tuple(_component(reader, revision, size_bytes) for _ in range(reader.numbers("H")[0]))
    return PldmPackage(version, records, components)


def _check_sum(start: bytes, header_bytes: int, revision: int) -> None:
    end = header_bytes - (8 if revision == 4 else 4)
    (wanted,) = struct.unpack_from("<I", start, end)
    if zlib.crc32(start[:end]) != wanted:
        raise ValueError("the checksum of the header of the firmware package is wrong")


def _records(reader: _Reader, bitmap_bytes: int, revision: int) -> tuple[Record, ...]:
    records: list[Record] = []
    for _ in range(reader.numbers("B")[0]):
        start = reader.at
        length, descriptors, flags, kind, version_bytes, _data = reader.numbers("HBIBBH")
        if revision == 4:
            reader.numbers("I")
        bitmap = int.from_bytes(reader.take(bitmap_bytes), "little")
        names = [name.strip() for name in reader.text(kind, version_bytes).split(",")]
        if start + length < reader.at:
            raise ValueError("a device record of the firmware package is longer than it says")
        sku = _sku(_Reader(reader.data[: start + length], reader.at), descriptors)
        applicable = tuple(index for index in range(8 * bitmap_bytes) if bitmap >> index & 1)
        records.append(Record(tuple(name for name in names if name), applicable, sku, bool(flags & 1)))
        reader.at = start
        reader.take(length)
    return tuple(records)


def _sku(reader: _Reader, descriptors: int) -> str:
    for _ in range(descriptors):
        kind, size = reader.numbers("HH")
        data = reader.take(size)
        if kind == _VENDOR_DEFINED and size > 2 and data[2 : 2 + data[1]] in _SKU_TITLES:
            return data[2 + data[1] :].hex()
    return ""


def _skip_downstream(reader: _Reader) -> None:
    for _ in range(reader.numbers("B")[0]):
        start = reader.at
        (length,) = reader.numbers("H")
        if length < 2:
            raise ValueError("a downstream device record of the firmware package is too short")
        reader.at = start
        reader.take(length)


def _component(reader: _Reader, revision: int, package_bytes: int) -> Component:
    classification, identifier, _stamp, _options, _activation, offset, size, kind, length = reader.numbers("HHIHHIIBB")
    version = reader.text(kind, length)
    if revision > 2:
        reader.take(reader.numbers("I")[0])
    if offset + size > package_bytes:
        raise ValueError(f"component {identifier} of the firmware package goes past its end")
    return Component(classification, identifier, version, offset, size)
