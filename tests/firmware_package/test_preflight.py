"""May a file be sent for these classes? Every no names the file, the field and what to do."""

import hashlib
import struct

import pytest

from profiles.firmware.component import Artefact, PackagePart
from provisioner.errors import PackageError
from provisioner.firmware.package.inspect import inspect
from provisioner.firmware.package.preflight import Claim, refusals
from provisioner.firmware.package.source import BufferSource
from tests.firmware_package.builder import Built, Image, Record, ascii_text, descriptor, resigned, vendor_descriptor

FILE = "gb200/board.fwpkg"
NVIDIA = descriptor(1, struct.pack("<I", 5703))
FPGA = PackagePart(identifier=0x50, descriptors={"iana_enterprise": "0x00001647", "APSKU": "0x01020304"})
GPU = PackagePart(identifier=0xC000, descriptors={"iana_enterprise": "0x00001647", "APSKU": "0x0a0b0c0d"})


def record(sku: bytes, applicable: set[int], name: str = "FPGA") -> Record:
    return Record([NVIDIA, vendor_descriptor("APSKU", sku)], ascii_text(name), applicable=applicable)


def board(**fpga: int) -> Built:
    """One component for each of two devices."""
    images = [Image(b"f" * 64, ascii_text("1.60"), identifier=0x50), Image(b"g" * 64, ascii_text("97.00.B9.00.69"))]
    images[1].identifier = 0xC000
    for field, value in fpga.items():
        setattr(images[0], field, value)
    records = [record(b"\1\2\3\4", {0}), record(b"\x0a\x0b\x0c\x0d", {1}, "GPU")]
    return Built(version=ascii_text("GB200Nvl-25.06-A"), records=records, images=images)


def refused(
    content: bytes, *claims: Claim, size_bytes: int | None = None, sha256: str | None = None
) -> tuple[str, ...]:
    known = hashlib.sha256(content).hexdigest()
    artefact = Artefact(file=FILE, sha256=sha256 or known, size_bytes=size_bytes or len(content))
    return refusals(artefact, inspect(BufferSource(content)), claims)


def test_a_whole_board_that_fits_is_sent() -> None:
    content = board().encode()
    assert refused(content, Claim("fpga", "1.60", part=FPGA), Claim("gpu-vbios", "97.00.b9.00.69", part=GPU)) == ()
    assert refused(content, Claim("fpga", "1.60")) == (), "a catalog that says no more is judged by versions alone"


def test_a_form_that_tells_nothing_is_known_by_its_digest() -> None:
    assert refused(b"EMUFW1\nmore", Claim("fpga", "1.60", part=FPGA)) == ()


def test_a_file_that_was_cut_short_is_named_with_its_size_and_digest() -> None:
    content = b"a vendor's image that tells nothing about itself"
    artefact = Artefact(file=FILE, sha256="a" * 64, size_bytes=len(content))
    size, digest = refusals(artefact, inspect(BufferSource(content[:-5])), [Claim("bios", "1")])
    assert size.startswith(f"{FILE}: size: it has {len(content) - 5} bytes, and the catalog says {len(content)};")
    assert digest.startswith(f"{FILE}: sha256: ")


@pytest.mark.parametrize(
    ("spoil", "field"),
    [
        (lambda content: content[:60], "header size"),
        (lambda content: content[:-40], "component 1, image"),
        (lambda content: content[:40] + b"\xff" + content[41:], "header checksum"),
        (lambda content: resigned(content[:16] + b"\2" + content[17:]), "header format revision"),
    ],
)
def test_a_damaged_package_is_refused_at_the_field(spoil: object, field: str) -> None:
    """Its digest in the catalog may well be that of the damaged file: people compute it from what they have."""
    assert callable(spoil)
    with pytest.raises(PackageError) as caught:
        refused(spoil(board().encode()), Claim("fpga", "1.60", part=FPGA))
    assert caught.value.field == field


def test_a_package_for_other_hardware_says_what_it_is_for() -> None:
    other = PackagePart(identifier=0x50, descriptors={"iana_enterprise": "0x00001647", "APSKU": "0x99999999"})
    (reason,) = refused(board().encode(), Claim("fpga", "1.60", part=other))
    assert reason.startswith(
        f"{FILE}: fpga: target hardware: the package is not for it: it is for a device with IANA enterprise"
    )
    assert "APSKU=01020304" in reason
    assert "name the package of this model" in reason


def test_the_component_has_to_be_in_the_record_of_the_device() -> None:
    """A board's package holds many components; the device takes those of its own record."""
    swapped = board()
    swapped.records[0].applicable, swapped.records[1].applicable = {1}, {0}
    (reason,) = refused(swapped.encode(), Claim("fpga", "1.60", part=FPGA))
    assert "component identifier: it has no component with identifier 0x0050 for this device" in reason


def test_the_version_is_that_of_the_component_and_of_no_other() -> None:
    """What is another class's version would do for the package as a whole."""
    (reason,) = refused(board().encode(), Claim("fpga", "97.00.B9.00.69", part=FPGA))
    assert reason == (
        f"{FILE}: fpga: component version string: 97.00.B9.00.69 is not in it; it holds 1.60; name the right file, or "
        "the right version"
    )


def test_a_stamp_that_is_not_the_catalogs_is_told() -> None:
    content = board(stamp=7, options=2).encode()
    assert refused(content, Claim("fpga", "1.60", part=FPGA, stamp=7)) == ()
    (reason,) = refused(content, Claim("fpga", "1.60", part=FPGA, stamp=8))
    assert "component comparison stamp: 0x00000007, and the catalog says 0x00000008" in reason


def test_a_stamp_below_that_of_what_runs_is_refused_before_the_device_does() -> None:
    """DSP0267: a device takes nothing whose comparison stamp is below its own, unless it is forced."""
    content = board(stamp=7, options=2).encode()
    assert refused(content, Claim("fpga", "1.60", part=FPGA, installed={"1.1C": 6, "1.60": 7})) == ()
    (reason,) = refused(content, Claim("fpga", "1.60", part=FPGA, installed={"1.70": 9}))
    assert "0x00000007 is below 0x00000009 of 1.70, which runs" in reason
    unused = board(stamp=7).encode()
    assert refused(unused, Claim("fpga", "1.60", part=FPGA, installed={"1.70": 9})) == (), (
        "bit 1 says whether it counts"
    )


def test_components_of_packages_inside_it_count() -> None:
    """NVIDIA: an outer package with one package for each board."""
    outer = Built(version=ascii_text("DGX"), images=[Image(board().encode(), ascii_text("HGX"), identifier=1)])
    assert refused(outer.encode(), Claim("fpga", "1.60", part=FPGA)) == ()
    (reason,) = refused(outer.encode(), Claim("fpga", "1.61", part=FPGA))
    assert "it holds 1.60" in reason
