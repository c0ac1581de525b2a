"""Packages in the form of DSP0267, as the emulator reads them."""

import struct
import zlib
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.package import Header, Image
from emulator.pldm import UUIDS, read_pldm
from tests.emulator.updates import PLDM_1_0, pldm


def resigned(content: bytearray) -> bytes:
    """The package with a checksum that fits."""
    (size,) = struct.unpack_from("<H", content, 17)
    if 43 <= size <= len(content):
        struct.pack_into("<I", content, size - 4, zlib.crc32(content[: size - 4]))
    return bytes(content)


def test_names_and_versions_of_a_package_are_its_headers() -> None:
    """NVIDIA: the set-version string may be a comma-separated list of component names."""
    content = pldm("cpld, fpga", ["1.2", "3.4"])
    found = Image(content, len(content)).headers()
    assert found == (Header("cpld", "", "1.2"), Header("fpga", "", "3.4"))
    package = read_pldm(content, len(content))
    assert [(one.identifier, one.size_bytes) for one in package.components] == [(100, 27), (101, 27)]
    assert package.version == "1.00"


def test_one_version_is_for_all_names() -> None:
    """A bundle with one image for several classes."""
    content = pldm("cpld,fpga", ["1.2"])
    assert Image(content, len(content)).headers() == (Header("cpld", "", "1.2"), Header("fpga", "", "1.2"))


def test_only_the_start_of_a_package_is_needed() -> None:
    """The start is kept, the rest counted: offsets are checked against the whole size."""
    content = pldm("cpld", ["1.2"], b"x" * 5000)
    assert read_pldm(content[:400], len(content)).components[0].size_bytes == 5000
    with pytest.raises(ValueError, match="goes past its end"):
        read_pldm(content[:400], 4000)


@pytest.mark.parametrize(
    ("at", "value", "words"),
    [
        (16, b"\x02", "revision 2"),
        (17, struct.pack("<H", 20), "cannot have 20 bytes"),
        (17, struct.pack("<H", 60_000), "cannot have 60000 bytes"),
        (32, struct.pack("<H", 7), "no whole number of bytes"),
        (41, struct.pack("<H", 3), "longer than it says"),
    ],
)
def test_a_package_that_contradicts_itself_is_refused(at: int, value: bytes, words: str) -> None:
    """DSP0267, header and device identification records."""
    content = bytearray(pldm("cpld", ["1.2"]))
    content[at : at + len(value)] = value
    with pytest.raises(ValueError, match=words):
        read_pldm(resigned(content), len(content))


@given(at=st.integers(16, 120), value=st.integers(0, 255), uuid=st.sampled_from(sorted(UUIDS)), cut=st.integers(0, 60))
@settings(deadline=None)
def test_damage_is_a_value_error_and_nothing_else(at: int, value: int, uuid: bytes, cut: int) -> None:
    """Whatever a client sends, the task says it."""
    content = bytearray(pldm("cpld,fpga", ["1.2", "3.4"]))
    content[:16] = uuid
    content[16] = UUIDS[uuid]
    if at < len(content):
        content[at] = value
    damaged = resigned(content)[: len(content) - cut]
    with suppress(ValueError):
        assert Image(damaged, len(damaged)).headers()


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_any_bytes_after_the_identifier_are_read_with_care(rest: bytes) -> None:
    """The same without a package to begin with."""
    with pytest.raises(ValueError, match="firmware package"):
        Image(PLDM_1_0 + rest, 16 + len(rest)).headers()
