"""Is a package for a device, and is the version in it that the bundle names? Before anything is sent."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from provisioner.firmware.package.finding import Severity
from provisioner.firmware.package.fit import DeviceIdentity, Fit, fit, package_findings
from provisioner.firmware.package.inspect import Inspection, inspect
from provisioner.firmware.package.model import Descriptor
from provisioner.firmware.package.source import BufferSource
from tests.firmware_package.builder import Built, Image, Record, ascii_text, descriptor, vendor_descriptor

NVIDIA, H100, B200 = b"\xde\x10", b"\x30\x23", b"\x01\x29"
GPU = [Descriptor(0x0000, NVIDIA), Descriptor(0x0100, H100)]


def package(*, image: bytes = b"x") -> Inspection:
    """For an H100 with one SKU, and for any device of IANA enterprise 5703 behind it."""
    gpu = Record([descriptor(0x0000, NVIDIA), descriptor(0x0100, H100), vendor_descriptor("ECSKU", b"\1\2")])
    gpu.version, gpu.applicable = ascii_text("HGX_FW_GPU_SXM_1"), {0}
    board = Record([descriptor(0x0001, struct.pack("<I", 5703))], applicable={0})
    built = Built(version=ascii_text("HGX-22.10-1"), records=[gpu, board])
    built.images = [Image(image, ascii_text("96.00.61.00.01"))]
    return inspect(BufferSource(built.encode()))


def device(*descriptors: Descriptor) -> DeviceIdentity:
    return DeviceIdentity("HGX_FW_GPU_SXM_3", frozenset(descriptors))


def test_a_package_that_fits_and_holds_the_version_says_nothing() -> None:
    right = device(*GPU, Descriptor(0xFFFF, b"\1\2", "ECSKU"))
    assert package_findings(package(), "96.00.61.00.01", devices=[right]) == ()
    board = device(Descriptor(0x0001, struct.pack("<I", 5703)))
    assert package_findings(package(), " 96.00.61.00.01 ", devices=[right, board]) == ()


def test_versions_of_every_part_count() -> None:
    """The package's own, those of its components and sets, and of packages inside it."""
    inner = Built(version=ascii_text("28.39.4082"), images=[Image()]).encode()
    for version in ("HGX-22.10-1", "hgx-22.10-1", "HGX_FW_GPU_SXM_1", "28.39.4082"):
        assert package_findings(package(image=inner), version) == ()


def test_a_package_without_the_version_is_an_error_that_says_what_it_holds() -> None:
    (finding,) = package_findings(package(), "97.00.B9.00.69")
    assert finding.severity is Severity.ERROR
    assert "97.00.B9.00.69 is not in it; it holds HGX-22.10-1, HGX_FW_GPU_SXM_1, 96.00.61.00.01" in str(finding)


def test_the_pattern_of_the_catalog_takes_the_version_out() -> None:
    """`BIOS Date: 08/04/2023 Ver 1.4` in the package, 1.4 in the bundle."""
    built = Built(version=ascii_text("BIOS Date: 08/04/2023 Ver 1.4"), images=[Image()])
    found = inspect(BufferSource(built.encode()))
    assert package_findings(found, "1.4", extract=r"Ver (\S+)") == ()
    assert [one.severity for one in package_findings(found, "1.4")] == [Severity.ERROR]


def test_a_file_that_tells_no_version_is_a_note() -> None:
    """Its digest is what says that it is the right one."""
    (finding,) = package_findings(inspect(BufferSource(b"\xff" * 64)), "1.4", devices=[device(*GPU)])
    assert finding.severity is Severity.NOTE
    assert "only its digest says that it is 1.4" in finding.text


def test_a_package_of_another_model_is_an_error_that_names_the_models_it_is_for() -> None:
    other = device(Descriptor(0x0000, NVIDIA), Descriptor(0x0100, B200), Descriptor(0x0001, b"\0\0\0\1"))
    (finding,) = package_findings(package(), "HGX-22.10-1", devices=[other])
    assert (finding.severity, finding.field) == (Severity.ERROR, "HGX_FW_GPU_SXM_3")
    assert "PCI vendor 0x10de and PCI device 0x2330 and vendor-defined ECSKU=0102; or IANA" in finding.text


def test_what_was_not_read_makes_it_unknown_not_wrong() -> None:
    """Redfish shows PCI identifiers of some parts, and no SKU."""
    (finding,) = package_findings(package(), "HGX-22.10-1", devices=[device(*GPU)])
    assert finding.severity is Severity.NOTE


def test_findings_of_the_file_come_first() -> None:
    built = Built(images=[Image(b"x", ascii_text("1")), Image(b"", ascii_text("2"), size=0)])
    findings = package_findings(inspect(BufferSource(built.encode())), "3")
    assert [one.severity for one in findings] == [Severity.WARNING, Severity.ERROR]


_DESCRIPTORS = st.builds(
    Descriptor,
    st.sampled_from([0, 1, 0x100, 0xFFFF]),
    st.binary(min_size=2, max_size=2),
    st.none() | st.sampled_from(["ECSKU", "APSKU"]),
)


@given(st.lists(_DESCRIPTORS, min_size=1, max_size=4), st.frozensets(_DESCRIPTORS, max_size=4))
def test_more_knowledge_of_the_right_device_never_makes_it_wrong(
    record: list[Descriptor], others: frozenset[Descriptor]
) -> None:
    """A device with all descriptors of a record fits it; with none of their types it is unknown."""
    asked = tuple(record)
    assert fit(asked, device(*asked, *others)) is Fit.YES
    types = {(one.type, one.title) for one in asked}
    apart = [one for one in others if (one.type, one.title) not in types and (one.type == 0xFFFF or one.title is None)]
    apart = [one for one in apart if all(one.type != asked_one.type or one.type == 0xFFFF for asked_one in asked)]
    assert fit(asked, device(*apart)) is Fit.UNKNOWN
