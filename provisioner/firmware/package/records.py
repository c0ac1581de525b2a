"""Device records of a package's header, and those of downstream devices (DSP0267 1.1 and later)."""

from collections.abc import Sequence
from dataclasses import dataclass

from provisioner.firmware.package.descriptors import read_descriptors
from provisioner.firmware.package.field_reader import FieldReader
from provisioner.firmware.package.model import DeviceRecord, DownstreamRecord, Manifest

_WITH_MANIFESTS = 4
"""The first revision with reference manifests."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What decides about the form of a record."""

    revision: int
    bitmap_bytes: int

    @property
    def fixed_bytes(self) -> int:
        """Of a record, before its bitmap."""
        return 15 if self.revision >= _WITH_MANIFESTS else 11


@dataclass(frozen=True, slots=True)
class _Fixed:
    """The fields that both kinds of records start with."""

    descriptors: int
    flags: int
    text_type: int
    text_bytes: int
    data_bytes: int
    manifest_bytes: int


def read_devices(header: FieldReader, layout: Layout) -> tuple[DeviceRecord, ...]:
    """All of them. Raises `PackageError`."""
    count = header.number("device record count", 1)
    return tuple(_device(header, layout, f"device record {number}") for number in range(count))


def read_downstream(header: FieldReader, layout: Layout) -> tuple[DownstreamRecord, ...]:
    """All of them. Raises `PackageError`."""
    count = header.number("downstream device record count", 1)
    return tuple(_downstream(header, layout, f"downstream device record {number}") for number in range(count))


def refuse_bits_beyond(
    header: FieldReader, layout: Layout, records: Sequence[DeviceRecord | DownstreamRecord], components: int
) -> None:
    """Raise `PackageError` where the bitmap of a record names a component that is not there."""
    for number, record in enumerate(records):
        highest = int.from_bytes(record.bitmap, "little").bit_length()
        if highest > components:
            kind = "device record" if isinstance(record, DeviceRecord) else "downstream device record"
            said = f"it names component {highest - 1}, and there are {components}, counted from 0"
            header.refuse(f"{kind} {number}, applicable components", said, record.offset + layout.fixed_bytes)


def _device(header: FieldReader, layout: Layout, name: str) -> DeviceRecord:
    start, record = header.offset, _record(header, name)
    fixed = _fixed(record, layout, "set-version string")
    bitmap = record.data("applicable components", layout.bitmap_bytes)
    set_version = record.text("set-version string", fixed.text_type, fixed.text_bytes)
    descriptors = read_descriptors(record, fixed.descriptors)
    package_data = record.skip("package data", fixed.data_bytes)
    manifest = _manifest(record, fixed.manifest_bytes)
    record.finish("its last field")
    return DeviceRecord(start, fixed.flags, bitmap, set_version, descriptors, package_data, manifest)


def _downstream(header: FieldReader, layout: Layout, name: str) -> DownstreamRecord:
    start, record = header.offset, _record(header, name)
    fixed = _fixed(record, layout, "minimum-version string")
    bitmap = record.data("applicable components", layout.bitmap_bytes)
    minimum = record.text("minimum-version string", fixed.text_type, fixed.text_bytes)
    stamp = record.number("minimum-version comparison stamp", 4) if fixed.flags & 1 else None
    descriptors = read_descriptors(record, fixed.descriptors)
    package_data = record.skip("package data", fixed.data_bytes)
    manifest = _manifest(record, fixed.manifest_bytes)
    record.finish("its last field")
    return DownstreamRecord(start, fixed.flags, bitmap, minimum, stamp, descriptors, package_data, manifest)


def _record(header: FieldReader, name: str) -> FieldReader:
    """A reader of one record, behind its length, which counts itself."""
    start = header.offset
    length = header.number(f"{name}, length", 2)
    if length < 2:
        header.refuse(f"{name}, length", f"{length} is less than the length field itself", start)
    if length - 2 > header.end - header.offset:
        left = header.end - start
        header.refuse(f"{name}, length", f"{length} bytes, and only {left} are left of the header", start)
    return header.within(name, length - 2)


def _fixed(record: FieldReader, layout: Layout, text: str) -> _Fixed:
    start = record.offset
    count = record.number("descriptor count", 1)
    if count == 0:
        record.refuse("descriptor count", "0, and the standard wants at least one, which names a vendor", start)
    return _Fixed(
        descriptors=count,
        flags=record.number("update option flags", 4),
        text_type=record.number(f"{text} type", 1),
        text_bytes=record.number(f"{text} length", 1),
        data_bytes=record.number("package data length", 2),
        manifest_bytes=record.number("reference manifest length", 4) if layout.revision >= _WITH_MANIFESTS else 0,
    )


def _manifest(record: FieldReader, size_bytes: int) -> Manifest | None:
    if size_bytes == 0:
        return None
    part = record.within("reference manifest", size_bytes)
    body = part.number("standards body", 1)
    vendor_id = part.data("vendor id", part.number("vendor id length", 1))
    return Manifest(body, vendor_id, part.skip("data", part.end - part.offset))
