"""What DSP0267 does not allow is refused, with the field, its offset and a remedy. Each has a right checksum."""

import struct
import uuid

import pytest

from provisioner.errors import PackageError
from tests.firmware_package import vectors
from tests.firmware_package.builder import Built, Image, Record, Text, ascii_text, descriptor, patched, resigned
from tests.firmware_package.reading import read

SINGLE = vectors.single().encode()
EVERYTHING = vectors.with_everything().encode()


def test_the_vectors_are_read() -> None:
    """Else every refusal below would say nothing."""
    assert read(SINGLE).components
    assert read(EVERYTHING).downstream


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", r"package header identifier at byte 0 \(0x0\): nothing is none of DSP0267"),
        (b"\xf0" * 16, "package header identifier at byte 0"),
        (b"\0" * 200, "package header identifier at byte 0 .*none of DSP0267 1.0 to 1.3"),
        (SINGLE[:20], "package header at byte 20 .*ends after 20 bytes"),
        (SINGLE[:138], "header size at byte 17 .*139 bytes, and the file has 138"),
        (SINGLE[:-1], "component 0, image at byte 111 .*ends at byte 166, and the package at 165"),
        (patched(SINGLE, 16, b"\2"), "header format revision at byte 16 .*2, .*revision 1"),
        (patched(SINGLE, 17, b"\x2a\0"), "header size at byte 17 .*42 bytes; the smallest of revision 1 has 43"),
        (patched(EVERYTHING, 17, b"\x2f\0"), "header size at byte 17 .*47 bytes; the smallest of revision 4 has 48"),
        (patched(SINGLE, 32, b"\x09\0"), "component bitmap length at byte 32 .*9 bits"),
        (patched(SINGLE, 35, b"\xff"), "package version string at byte 36 .*255 bytes and only 99 are left"),
        (patched(SINGLE, 51, b"\x2d\0"), "device record 0, descriptor 0 at byte 81 .*16 bytes and only 15 are left"),
        (patched(SINGLE, 51, b"\x2f\0"), "device record 0, length at byte 97 .*1 bytes are left after its last field"),
        (patched(SINGLE, 51, b"\1\0"), "device record 0, length at byte 51 .*less than the length field itself"),
        (patched(SINGLE, 51, b"\xff\xff"), "device record 0, length at byte 51 .*65535 bytes, and only 84 are left"),
        (patched(SINGLE, 53, b"\2"), "device record 0, descriptor 1, type at byte 97 .*2 bytes and only 0 are left"),
        (patched(SINGLE, 53, b"\0"), "device record 0, descriptor count at byte 53 .*at least one"),
        (patched(SINGLE, 59, b"\xff"), "device record 0, set-version string at byte 63 .*255 bytes"),
        (patched(SINGLE, 60, b"\1\0"), "device record 0, package data at byte 97 .*1 bytes and only 0"),
        (patched(SINGLE, 62, b"\2"), "device record 0, applicable components at byte 62 .*component 1.* there are 1,"),
        (patched(SINGLE, 77, b"\0\1"), "device record 0, first descriptor, type at byte 77 .*0x0100 .PCI device.*IANA"),
        (patched(SINGLE, 77, b"\xff\xff"), "first descriptor, type at byte 77 .*vendor-defined.*names a vendor"),
        (patched(SINGLE, 97, b"\2\0"), "component 1, classification at byte 135 .*2 bytes and only 0 are left"),
        (patched(SINGLE, 97, b"\0\0"), "length at byte 99 .*36 bytes are left after the last component"),
        (patched(SINGLE, 109, b"\x40\0"), "component 0, requested activation method at byte 109 .*0x0040 .*0x3f"),
        (patched(SINGLE, 111, b"\x8c"), "component 0, image at byte 111 .*ends at byte 167, and the package at 166"),
        (patched(SINGLE, 115, b"\xff\xff\xff\xff"), "component 0, image at byte 111 .*ends at byte 4294967434"),
        (patched(SINGLE, 120, b"\x0f"), "component 0, version string at byte 121 .*15 bytes and only 14 are left"),
        (patched(EVERYTHING, 62, b"\x09"), "device record 0, reference manifest at byte 101 .*9 bytes and only 8"),
        (patched(EVERYTHING, 102, b"\x07"), "device record 0, reference manifest, vendor id at byte 103 .*7 bytes and"),
        (patched(EVERYTHING, 110, b"\0\0"), "downstream device record 0, length at byte 110"),
        (patched(EVERYTHING, 125, b"\2"), "downstream device record 0, applicable components at byte 125"),
        (patched(EVERYTHING, 213, b"\6"), "component 0, opaque data at byte 217 .*6 bytes and only 5 are left"),
    ],
)
def test_what_the_standard_does_not_allow_is_refused(content: bytes, words: str) -> None:
    """With the field and its offset, and what to do."""
    with pytest.raises(PackageError, match=words) as refused:
        read(content)
    assert refused.value.remedy
    assert str(refused.value).endswith(refused.value.remedy)


@pytest.mark.parametrize("at", [0, 16, 17, 35, 60, 100, 134])
def test_a_damaged_header_is_refused_by_its_checksum(at: int) -> None:
    """Whatever byte it is, nothing of the header is believed before its checksum is right."""
    content = bytearray(SINGLE)
    content[at] ^= 0x10
    with pytest.raises(PackageError, match=r"header checksum|identifier|revision|header size"):
        read(bytes(content))


def test_damaged_images_are_refused_by_the_checksum_of_the_payload() -> None:
    """DSP0267 1.3: over everything behind the header."""
    content = bytearray(EVERYTHING)
    content[-1] ^= 1
    with pytest.raises(PackageError, match=r"payload checksum at byte 226 .*0xd202ef8d is stored"):
        read(bytes(content))


def test_every_vendor_type_may_come_first_and_no_other() -> None:
    """DSP0267, initial descriptor: PCI, IANA, UUID, PnP, ACPI, IEEE, SCSI."""
    sizes = {0: 2, 1: 4, 2: 16, 3: 3, 4: 4, 5: 3, 6: 8, 0x100: 2, 0x106: 40, 0x10A: 8, 7: 1}
    for kind, size in sizes.items():
        content = Built(records=[Record([descriptor(kind, bytes(size))])]).encode()
        if kind < 7:
            assert read(content).devices[0].descriptors[0].type == kind
        else:
            with pytest.raises(PackageError, match="first descriptor"):
                read(content)


def test_what_is_odd_and_harmless_is_a_finding() -> None:
    """Strings that are not of their type, times that are none, descriptors of a wrong size, images over each other."""
    record = Record([descriptor(1, b"\1\2\3\4"), descriptor(0x100, b"\1"), descriptor(0x777, b"")], Text(b"\xff", 2))
    images = [Image(b"ab", Text(b"1", 9)), Image(b"cd", offset=None), Image(b"", size=0)]
    built = Built(1, Text(b"\xe9"), bytes.fromhex("00000000000000002020e50700"), records=[record], images=images)
    package = read(built.encode())
    assert package.released is None
    assert package.version == r"\xe9"
    assert [(one.field, one.text.split(":")[0]) for one in package.findings] == [
        ("release date and time", "00000000000000002020e50700 is no time"),
        ("package version string", "it is no ASCII"),
        ("device record 0, set-version string", "it is no UTF-8"),
        (
            "device record 0, descriptor 1, length",
            "PCI device has 2 bytes by the standard, this one has 1; it fits no device",
        ),
        ("component 0, version string", "unknown string type 9; read as ASCII"),
        ("component 2, size", "the image is empty"),
    ]


@pytest.mark.parametrize(
    ("kind", "codec"), [(1, "ascii"), (2, "utf-8"), (3, "utf-16"), (4, "utf-16-le"), (5, "utf-16-be")]
)
def test_strings_are_read_by_their_type(kind: int, codec: str) -> None:
    """DSP0267, string types; makers pad with NULs."""
    words = "GB200-1.3" if codec == "ascii" else "GB200-1.3 \N{MIDDLE DOT}"
    assert read(Built(version=Text((words + "\0").encode(codec), kind)).encode()).version == words


def test_images_over_each_other_are_a_warning_for_each() -> None:
    """The third begins inside the first, although the second has ended."""
    images = [Image(b"x" * 90), Image(b"", size=10, offset=160), Image(b"", size=5, offset=180)]
    package = read(Built(records=[Record(applicable={0, 1, 2})], images=images).encode())
    assert package.header_bytes < 160
    assert [one.field for one in package.findings] == ["component 1", "component 2"]
    assert all("overlaps that of component 0" in one.text for one in package.findings)


def test_findings_are_counted_once_there_are_many() -> None:
    """A header may be full of them."""
    record = Record([descriptor(1, b"")] * 255)
    package = read(Built(records=[record] * 20).encode())
    assert len(package.findings) == 101
    assert package.findings[-1].text == "5000 more findings of this file are not shown"


def test_nvidia_names_many_components_in_one_set_version() -> None:
    """NVIDIA's packages: the set-version string may be a comma-separated list."""
    built = Built(records=[Record(version=ascii_text("HGX_FW_GPU, HGX_FW_BMC,"), applicable={0})], images=[Image()])
    (device,) = read(built.encode()).devices
    assert device.names == ("HGX_FW_GPU", "HGX_FW_BMC")


def test_packages_inside_packages_are_read_one_level_deep() -> None:
    """NVIDIA's outer packages; offsets of the inner ones count from their own start."""
    inner = vectors.single().encode()
    middle = Built(images=[Image(inner, ascii_text("2.0"))]).encode()
    outer = read(Built(version=ascii_text("bundle"), images=[Image(b"raw" * 9), Image(middle), Image(inner)]).encode())
    (first, package), (second, other) = outer.inner
    assert (first, second) == (1, 2)
    assert (package.components[0].version, package.inner) == ("2.0", ())
    assert other.components[0].image.offset == 139
    assert outer.versions == ("bundle", "2.0", "VersionString1", "VersionString2", "VersionString3")


def test_a_damaged_inner_package_makes_the_outer_one_refused() -> None:
    """With the place in the file, which is what a hex editor shows."""
    inner = bytearray(vectors.single().encode())
    inner[60] ^= 1
    content = Built(images=[Image(b"raw"), Image(bytes(inner))]).encode()
    at = content.index(uuid.UUID("f018878c-cb7d-4943-9800-a02f059aca02").bytes, 1) + 135
    with pytest.raises(PackageError, match=rf"component 1, header checksum at byte {at} "):
        read(content)


def test_the_inner_packages_that_are_read_are_bounded() -> None:
    """A thousand components may name one and the same inner package."""
    inner = vectors.single().encode()
    images = [Image(inner), *(Image(b"", size=len(inner), offset=0) for _ in range(500))]
    header_bytes = read(resigned(Built(images=images[:1]).encode())).header_bytes + 22 * 500
    for image in images[1:]:
        image.offset = header_bytes
    package = read(Built(images=images).encode())
    assert len(package.inner) == 64
    assert struct.unpack_from("<H", Built(images=images).encode(), 17) == (header_bytes,)
