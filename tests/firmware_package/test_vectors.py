"""Public test packages of openbmc/pldm and openbmc/libpldm: made from descriptions, with the public checksums."""

import mmap
from datetime import UTC, datetime
from pathlib import Path

import pytest

from provisioner.errors import PackageError
from provisioner.firmware.package.components import activations
from provisioner.firmware.package.model import Descriptor, Extent
from provisioner.firmware.package.packages import read_package
from provisioner.firmware.package.source import BufferSource, FileSource
from tests.firmware_package import vectors
from tests.firmware_package.builder import Built
from tests.firmware_package.reading import read


def test_the_package_with_one_component() -> None:
    """openbmc/pldm: header of 139 bytes, file of 166, checksum 4F 96 AE 56, component of class 10 with id 100."""
    content = vectors.single().encode()
    assert (len(content), content[135:139].hex(" ")) == (166, "4f 96 ae 56")
    package = read(content, strict=True)
    assert (package.revision, package.header_bytes, package.header_crc) == (1, 139, 0x56AE964F)
    assert package.version == "VersionString1"
    assert package.released == datetime(2021, 12, 25, tzinfo=UTC)
    (component,) = package.components
    assert (component.classification, component.identifier, component.version) == (10, 100, "VersionString3")
    assert (component.image, component.stamp) == (Extent(139, 27), None)
    (device,) = package.devices
    assert (device.components, device.set_version, device.continues_after_failure) == ((0,), "VersionString2", True)
    assert device.descriptors == (Descriptor(2, vectors.UUID_1),)
    assert not package.findings


def test_the_package_with_three_records_and_three_components() -> None:
    """openbmc/pldm: header of 326 bytes, checksum 0x719C90F1, a vendor-defined descriptor, activation mask 12."""
    package = read(vectors.three().encode(), strict=True)
    assert (package.header_bytes, package.size_bytes, package.header_crc) == (326, 407, 0x719C90F1)
    assert [one.components for one in package.devices] == [(0, 1), (0, 1, 2), (0,)]
    assert package.devices[0].descriptors[1:] == (
        Descriptor(1, bytes.fromhex("47160000")),
        Descriptor(0xFFFF, b"\x12\x34", "OpenBMC"),
    )
    assert [one.image.offset for one in package.components] == [326, 353, 380]
    assert activations(package.components[2]) == ("medium-specific reset", "system reboot")
    assert not package.findings


def test_the_package_with_a_wrong_checksum_is_refused() -> None:
    """openbmc/pldm, InvalidPkgBadChecksum: 0x57AE964F is stored, and the bytes make 0x56AE964F."""
    content = bytearray(vectors.single().encode())
    content[138] = 0x57
    with pytest.raises(PackageError, match=r"header checksum at byte 135 .*0x57ae964f.*0x56ae964f"):
        read(bytes(content))


@pytest.mark.parametrize(
    ("built", "size_bytes", "header_bytes", "crc"),
    [(vectors.single(b"\0"), 140, 139, 0xE17D9D54), (vectors.three_at_one_place(), 327, 326, 0x39BFA914)],
)
def test_the_packages_of_libpldm(built: Built, size_bytes: int, header_bytes: int, crc: int) -> None:
    """openbmc/libpldm, tests of its C++ bindings; three components of the second share one byte: a warning each."""
    package = read(built.encode(), strict=True)
    assert (package.size_bytes, package.header_bytes, package.header_crc) == (size_bytes, header_bytes, crc)
    assert len(package.findings) == len(package.components) - 1
    assert all("overlaps" in one.text for one in package.findings)


def test_the_package_of_dsp0267_1_3() -> None:
    """openbmc/libpldm: record of 58 bytes, payload checksum 0xD202EF8D of one zero byte, manifests, opaque data."""
    content = vectors.with_everything().encode()
    assert content[51:53] == b"\x3a\0"
    package = read(content)
    assert (package.revision, package.payload_crc) == (4, 0xD202EF8D)
    manifest = package.devices[0].manifest
    assert manifest is not None
    assert (manifest.standards_body, manifest.vendor_id) == (3, b"\x20\xaf")
    assert content[manifest.extent.offset : manifest.extent.end] == b"\x21\x22\x23\x24"
    (behind,) = package.downstream
    assert (behind.minimum_version, behind.minimum_stamp) == ("VersionString1", 0x0A090A09)
    assert content[behind.package_data.offset : behind.package_data.end] == b"\xde\xde\xfe"
    opaque = package.components[0].opaque
    assert opaque is not None
    assert content[opaque.offset : opaque.end] == b"\5\4\3\2\1"


def test_an_image_inside_the_header_is_refused_only_where_one_is_strict() -> None:
    """Public test packages of openbmc/libpldm (1.1, 1.3) have offset 139, and their headers are longer."""
    content = vectors.with_everything().encode()
    (finding,) = read(content).findings
    assert (finding.field, finding.offset) == ("component 0, location offset", content.index(b"\x8b\0\0\0\1\0\0\0"))
    with pytest.raises(PackageError, match=r"component 0, location offset .*139 lies inside the header"):
        read(content, strict=True)


def test_files_maps_and_buffers_are_read_alike(tmp_path: Path) -> None:
    """A file is read at offsets; whoever has a map or a buffer may give that."""
    content = vectors.with_everything().encode()
    path = tmp_path / "a.fwpkg"
    path.write_bytes(content)
    wanted = read(content)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert read_package(FileSource(file.fileno())) == wanted
        source = BufferSource(mapped)
        assert read_package(source) == wanted
        assert read_package(BufferSource(memoryview(bytearray(content)))) == wanted
        del source
