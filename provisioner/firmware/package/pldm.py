"""Reads packages in the form of DSP0267 1.0 to 1.3, with care: nothing that a file says makes this read past its end.

A header has at most 65,535 bytes and is all that is kept; images are told by offset and size. Every number is checked
against what is left before anything is made of it.
"""

import zlib
from datetime import datetime, timedelta, timezone
from uuid import UUID

from provisioner.errors import PackageError
from provisioner.firmware.package.components import Bounds, read_components
from provisioner.firmware.package.field_reader import REMEDY, FieldReader
from provisioner.firmware.package.finding import Findings, Severity
from provisioner.firmware.package.model import PldmPackage
from provisioner.firmware.package.records import Layout, read_devices, read_downstream, refuse_bits_beyond
from provisioner.firmware.package.source import Source, crc32_of

REVISIONS = {
    UUID("f018878c-cb7d-4943-9800-a02f059aca02"): 1,
    UUID("1244d264-8d7d-4718-a030-fc8a56587d5a"): 2,
    UUID("3119ce2f-e80a-4a99-af6d-46f8b121f6bf"): 3,
    UUID("7b291c99-6db6-4208-801b-02026e463c78"): 4,
}
"""Package header identifiers -> header format revision; revision 1 is DSP0267 1.0, 4 is 1.3."""

IDENTIFIER_BYTES = 16
_FIXED_BYTES = 36
_SMALLEST = {1: 43, 2: 44, 3: 44, 4: 48}
"""Header bytes of a package with nothing in it: the fixed part, its counts, its checksums."""


def revision_of(start: bytes) -> int | None:
    """The revision that a file with this start says it has; None where it is no such package."""
    return REVISIONS.get(UUID(bytes=start[:IDENTIFIER_BYTES])) if len(start) >= IDENTIFIER_BYTES else None


def read_pldm(source: Source, *, strict: bool = False, check_payload: bool = True) -> PldmPackage:
    """Everything that the header says. Raises `PackageError` with the first field that cannot be.

    `check_payload`: also compute the checksum that 1.3 has of everything behind the header.
    """
    findings = Findings()
    header = _header(source)
    revision = header[IDENTIFIER_BYTES]
    crc_bytes = 8 if revision == 4 else 4
    fields = FieldReader(header, 19, len(header) - crc_bytes, "", findings)
    released = _released(fields)
    layout = Layout(revision, _bitmap_bytes(fields))
    kind = fields.number("package version string type", 1)
    version = fields.text("package version string", kind, fields.number("package version string length", 1))
    devices = read_devices(fields, layout)
    downstream = read_downstream(fields, layout) if revision > 1 else ()
    components = read_components(fields, revision, Bounds(len(header), source.size_bytes, strict))
    fields.finish("the last component")
    refuse_bits_beyond(fields, layout, devices, len(components))
    refuse_bits_beyond(fields, layout, downstream, len(components))
    return PldmPackage(
        revision=revision,
        header_bytes=len(header),
        size_bytes=source.size_bytes,
        released=released,
        version=version,
        devices=devices,
        downstream=downstream,
        components=components,
        header_crc=int.from_bytes(header[-crc_bytes:][:4], "little"),
        payload_crc=_payload_crc(source, header, check=check_payload) if revision == 4 else None,
        findings=findings.all(),
    )


def _header(source: Source) -> bytes:
    """The whole header, once its checksum is right."""
    fixed = source.read(0, min(_FIXED_BYTES, source.size_bytes))
    revision = _revision(fixed)
    size_bytes = int.from_bytes(fixed[17:19], "little")
    if size_bytes < _SMALLEST[revision]:
        said = f"{size_bytes} bytes; the smallest of revision {revision} has {_SMALLEST[revision]}"
        raise PackageError("header size", 17, said, REMEDY)
    if size_bytes > source.size_bytes:
        said = f"{size_bytes} bytes, and the file has {source.size_bytes}: it is cut short"
        raise PackageError("header size", 17, said, REMEDY)
    header = source.read(0, size_bytes)
    end = size_bytes - (8 if revision == 4 else 4)
    stored, computed = int.from_bytes(header[end : end + 4], "little"), zlib.crc32(header[:end])
    if stored != computed:
        said = f"{stored:#010x} is stored, and the bytes before it make {computed:#010x}: the header is damaged"
        raise PackageError("header checksum", end, said, REMEDY)
    return header


def _revision(fixed: bytes) -> int:
    revision = revision_of(fixed)
    if revision is None:
        said = f"{fixed[:IDENTIFIER_BYTES].hex() or 'nothing'} is none of DSP0267 1.0 to 1.3"
        raise PackageError("package header identifier", 0, said, "name a PLDM firmware update package")
    if len(fixed) < _FIXED_BYTES:
        said = f"the file ends after {len(fixed)} bytes, and the fixed part of a header has {_FIXED_BYTES}"
        raise PackageError("package header", len(fixed), said, REMEDY)
    if fixed[IDENTIFIER_BYTES] != revision:
        said = f"{fixed[IDENTIFIER_BYTES]}, and the package header identifier is that of revision {revision}"
        raise PackageError("header format revision", IDENTIFIER_BYTES, said, REMEDY)
    return revision


def _bitmap_bytes(fields: FieldReader) -> int:
    start = fields.offset
    bits = fields.number("component bitmap length", 2)
    if bits % 8:
        fields.refuse("component bitmap length", f"{bits} bits are no whole number of bytes", start)
    return bits // 8


def _released(fields: FieldReader) -> datetime | None:
    """The timestamp of DSP0240; None where it is left out or is no time."""
    start = fields.offset
    data = fields.data("release date and time", 13)
    if not any(data):
        return None
    minutes = int.from_bytes(data[:2], "little", signed=True)
    microsecond, year = int.from_bytes(data[2:5], "little"), int.from_bytes(data[10:12], "little")
    second, minute, hour, day, month = data[5:10]
    try:
        zone = timezone(timedelta(minutes=minutes))
        return datetime(year, month, day, hour, minute, second, microsecond, zone)
    except ValueError as error:
        fields.findings.add(Severity.WARNING, "release date and time", start, f"{data.hex()} is no time: {error}")
        return None


def _payload_crc(source: Source, header: bytes, *, check: bool) -> int:
    stored = int.from_bytes(header[-4:], "little")
    computed = crc32_of(source, len(header), source.size_bytes) if check else stored
    if stored != computed:
        said = f"{stored:#010x} is stored, and what is behind the header makes {computed:#010x}: the images are damaged"
        raise PackageError("payload checksum", len(header) - 4, said, REMEDY)
    return stored
