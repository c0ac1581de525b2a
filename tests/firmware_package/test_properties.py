"""Packages as properties: what was written is read; what is damaged is refused, or read; nothing takes much memory."""

import tracemalloc
from contextlib import suppress
from datetime import datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.pldm import read_pldm as emulator_reads
from provisioner.errors import PackageError
from provisioner.firmware.package.inspect import inspect
from provisioner.firmware.package.model import DeviceRecord, DownstreamRecord
from provisioner.firmware.package.packages import MOST_INNER_HEADER_BYTES, read_package
from provisioner.firmware.package.source import BufferSource
from tests.firmware_package import vectors
from tests.firmware_package.builder import UUIDS, Built, Image, Record, descriptor, resigned
from tests.firmware_package.reading import read
from tests.firmware_package.strategies import packages, words_of

_MEMORY_PER_HEADER_BYTE = 64
_MEMORY_BYTES = 2**20
VECTORS = [vectors.single().encode(), vectors.three().encode(), vectors.with_everything().encode()]
VECTORS += [Built(images=[Image(one) for one in VECTORS]).encode()]


@given(packages())
@settings(deadline=None)
def test_what_was_written_is_read(built: Built) -> None:
    """Every field of every revision of DSP0267."""
    content = built.encode()
    package = read(content, strict=True)
    assert (package.revision, package.version) == (built.revision, words_of(built.version).rstrip("\0"))
    assert package.released is not None
    minutes = int.from_bytes(built.released[:2], "little", signed=True)
    assert package.released == datetime(2026, 8, 7, 6, 5, 4, 0x030201, timezone(timedelta(minutes=minutes)))
    assert len(package.components) == len(built.images)
    for component, image in zip(package.components, built.images, strict=True):
        assert content[component.image.offset : component.image.end] == image.data
        numbers = component.classification, component.identifier, component.comparison_stamp, component.options
        assert numbers == (image.classification, image.identifier, image.stamp, image.options)
        assert (component.activation, component.version) == (image.activation, words_of(image.version))
        opaque = component.opaque
        assert (content[opaque.offset : opaque.end] if opaque else b"") == image.opaque
    assert [one.set_version for one in package.devices] == [words_of(one.version) for one in built.records]
    assert [one.minimum_version for one in package.downstream] == [words_of(one.version) for one in built.downstream]
    stamps = [one.stamp if one.flags & 1 else None for one in built.downstream]
    assert [one.minimum_stamp for one in package.downstream] == stamps
    for record, written in [*zip(package.devices, built.records, strict=True)]:
        compare(content, record, written)
    for behind, written in [*zip(package.downstream, built.downstream, strict=True)]:
        compare(content, behind, written)


def compare(content: bytes, record: DeviceRecord | DownstreamRecord, written: Record) -> None:
    """What both kinds of records have."""
    assert set(record.components) == written.applicable
    assert record.flags == written.flags
    assert content[record.package_data.offset : record.package_data.end] == written.package_data
    encoded = [
        descriptor(one.type, (b"" if one.title is None else bytes([1, len(one.title)]) + one.title.encode()) + one.data)
        for one in record.descriptors
    ]
    assert encoded == written.descriptors
    assert (record.manifest is not None) == bool(written.manifest)
    if record.manifest:
        extent = record.manifest.extent
        head = bytes([record.manifest.standards_body, len(record.manifest.vendor_id)]) + record.manifest.vendor_id
        assert head + content[extent.offset : extent.end] == written.manifest


@given(packages())
@settings(deadline=None)
def test_the_emulator_reads_the_same(built: Built) -> None:
    """Two readers that share no code: `emulator/pldm.py` is what emulated BMCs take packages with."""
    content = built.encode()
    ours, theirs = read(content), emulator_reads(content, len(content))
    assert ours.version == theirs.version
    assert tuple(name for one in ours.devices for name in one.names) == theirs.names
    assert [
        (one.classification, one.identifier, one.version, one.image.offset, one.image.size_bytes)
        for one in ours.components
    ] == [(one.classification, one.identifier, one.version, one.offset, one.size_bytes) for one in theirs.components]


@given(st.sampled_from(VECTORS), st.data(), st.booleans())
@settings(deadline=None, max_examples=400)
def test_damage_is_a_refusal_and_nothing_else(content: bytes, data: st.DataObject, signed: bool) -> None:
    """One byte changed or the end cut off; with a checksum that fits, so that the fields behind it are read too."""
    damaged = bytearray(content)
    damaged[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del damaged[data.draw(st.one_of(st.just(len(content)), st.integers(0, len(content)))) :]
    within_bounds(resigned(bytes(damaged)) if signed and len(damaged) > 40 else bytes(damaged))


@given(st.sampled_from(sorted(UUIDS)), st.binary(max_size=400))
@settings(deadline=None, max_examples=200)
def test_any_bytes_behind_an_identifier_are_a_refusal_and_nothing_else(revision: int, rest: bytes) -> None:
    """With the size and the checksum right: what remains is the parser's to judge."""
    content = bytearray(Built(revision).encode()[:32] + rest.ljust(16, b"\0"))
    content[17:19] = len(content).to_bytes(2, "little")
    within_bounds(resigned(bytes(content)))


@given(st.binary(max_size=600))
@settings(deadline=None, max_examples=200)
def test_any_file_is_inspected_or_refused(content: bytes) -> None:
    """Nothing else than `PackageError`, whatever the form."""
    with suppress(PackageError):
        assert inspect(BufferSource(content)).size_bytes == len(content)


def test_the_largest_headers_take_little_memory() -> None:
    """65,535 bytes of the smallest descriptors, of components, and of records with bitmaps full of bits."""
    small = Record([descriptor(1, b"")] * 255)
    within_bounds(Built(records=[small] * 60).encode())
    within_bounds(Built(images=[Image(b"x") for _ in range(2970)]).encode())
    full = Record(applicable=set(range(1100)))
    within_bounds(Built(bits=1104, records=[full] * 200, images=[Image(b"x") for _ in range(1100)]).encode())


def test_many_inner_packages_take_little_memory() -> None:
    """Of their headers, no more is read than a bound; what is not read is said."""
    inner = Built(records=[Record([descriptor(1, bytes(4))] * 255)] * 30).encode()
    content = Built(images=[Image(inner) for _ in range(12)]).encode()
    package = read(content)
    assert 2 < len(package.inner) < 12
    assert "so many inner packages are not read" in package.findings[-1].text
    within_bounds(content)


def test_numbers_that_promise_gigabytes_take_no_memory() -> None:
    """Lengths of four bytes: opaque data, manifests, images."""
    for revision in (3, 4):
        content = bytearray(Built(revision, images=[Image()], records=[Record()]).encode())
        for at in range(36, len(content) - 4):
            damaged = bytearray(content)
            damaged[at : at + 4] = b"\xff\xff\xff\x7f"
            within_bounds(resigned(bytes(damaged)))


def within_bounds(content: bytes) -> None:
    """Read it, or be refused, without taking much more than its header."""
    source = BufferSource(content)
    tracemalloc.start()
    try:
        with suppress(PackageError):
            assert read_package(source).header_bytes <= len(content)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    headers_bytes = min(len(content), 2 * 0xFFFF + MOST_INNER_HEADER_BYTES)
    assert peak < _MEMORY_BYTES + _MEMORY_PER_HEADER_BYTE * headers_bytes
