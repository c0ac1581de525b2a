"""Descriptors of devices: their types, and how a record lists them (DSP0267, "Descriptor definition")."""

from provisioner.firmware.package.field_reader import FieldReader
from provisioner.firmware.package.finding import Severity
from provisioner.firmware.package.model import Descriptor

VENDOR_DEFINED = 0xFFFF
_SHOWN_BYTES = 16

TYPES: dict[int, tuple[str, int]] = {
    0x0000: ("PCI vendor", 2),
    0x0001: ("IANA enterprise", 4),
    0x0002: ("UUID", 16),
    0x0003: ("PnP vendor", 3),
    0x0004: ("ACPI vendor", 4),
    0x0005: ("IEEE company", 3),
    0x0006: ("SCSI vendor", 8),
    0x0100: ("PCI device", 2),
    0x0101: ("PCI subsystem vendor", 2),
    0x0102: ("PCI subsystem", 2),
    0x0103: ("PCI revision", 1),
    0x0104: ("PnP product", 4),
    0x0105: ("ACPI product", 4),
    0x0106: ("model, long", 40),
    0x0107: ("model, short", 10),
    0x0108: ("SCSI product", 16),
    0x0109: ("UBM controller", 4),
    0x010A: ("EUI-64", 8),
    0x010B: ("PCI revision range", 2),
}
"""Type -> its name and the bytes of its data."""

_FIRST = tuple(kind for kind in TYPES if kind < 0x0100)


def name_of(kind: int) -> str:
    """In words; the number where the standard has none."""
    if kind == VENDOR_DEFINED:
        return "vendor-defined"
    return TYPES[kind][0] if kind in TYPES else f"type {kind:#06x}"


def value_of(descriptor: Descriptor) -> str:
    """As people write it: identifiers most significant digit first, other data in hexadecimal."""
    kind, data = descriptor.type, descriptor.data
    if kind in {0x0000, 0x0001, 0x0100, 0x0101, 0x0102} and len(data) == TYPES[kind][1]:
        return f"0x{data[::-1].hex()}"
    text = data[:_SHOWN_BYTES].hex() + ("..." if len(data) > _SHOWN_BYTES else "")
    return f"{descriptor.title}={text}" if descriptor.title is not None else text


def read_descriptors(record: FieldReader, count: int) -> tuple[Descriptor, ...]:
    """The next `count` descriptors of a record. Raises `PackageError`."""
    return tuple(_read(record, number) for number in range(count))


def _read(record: FieldReader, number: int) -> Descriptor:
    start = record.offset
    kind = record.number(f"descriptor {number}, type", 2)
    if number == 0 and kind not in _FIRST:
        wanted = ", ".join(f"{one:#06x} {name_of(one)}" for one in _FIRST)
        said = f"it is {kind:#06x} ({name_of(kind)}); the standard wants one that names a vendor: {wanted}"
        record.refuse("first descriptor, type", said, start)
    size_bytes = record.number(f"descriptor {number}, length", 2)
    part = record.within(f"descriptor {number}", size_bytes)
    if kind == VENDOR_DEFINED:
        return _vendor_defined(part)
    known = TYPES.get(kind)
    if known and known[1] != size_bytes:
        said = f"{known[0]} has {known[1]} bytes by the standard, this one has {size_bytes}; it fits no device"
        record.findings.add(Severity.WARNING, part.named("length"), start + 2, said)
    return Descriptor(kind, part.data("data", size_bytes))


def _vendor_defined(part: FieldReader) -> Descriptor:
    kind = part.number("title type", 1)
    size_bytes = part.number("title length", 1)
    title = part.text("title", kind, size_bytes)
    return Descriptor(VENDOR_DEFINED, part.data("data", part.end - part.offset), title)
