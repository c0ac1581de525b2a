"""Public test packages, described as openbmc/pldm and openbmc/libpldm describe them in their tests of the parser."""

from tests.firmware_package.builder import Built, Image, Record, ascii_text, descriptor, manifest, vendor_descriptor

UUID_1 = bytes.fromhex("162023c93ec5411595f448701d49d675")


def _uuid(last: int) -> bytes:
    return descriptor(2, bytes.fromhex("1244d2648d7d4718a030fc8a56587d") + bytes([last]))


def single(image: bytes = b"x" * 27) -> Built:
    """openbmc/pldm, fw-update/test/package_parser_test.cpp, ValidPkgSingleDescriptorSingleComponent."""
    record = Record([descriptor(2, UUID_1)], ascii_text("VersionString2"), flags=1, applicable={0})
    images = [Image(image, ascii_text("VersionString3"))]
    return Built(1, ascii_text("VersionString1"), records=[record], images=images)


def three() -> Built:
    """openbmc/pldm, the same file, ValidPkgMultipleDescriptorsMultipleComponents."""
    iana, vendor = descriptor(1, bytes.fromhex("47160000")), vendor_descriptor("OpenBMC", b"\x12\x34")
    records = [
        Record([_uuid(0x5B), iana, vendor], ascii_text("VersionString2"), flags=1, applicable={0, 1}),
        Record([_uuid(0x5C)], ascii_text("VersionString3"), applicable={0, 1, 2}),
        Record([_uuid(0x5D)], ascii_text("VersionString4"), applicable={0}),
    ]
    images = [
        Image(version=ascii_text("VersionString5")),
        Image(version=ascii_text("VersionString6"), identifier=200, activation=1),
        Image(version=ascii_text("VersionString7"), classification=16, identifier=300, options=1, activation=12),
    ]
    return Built(1, ascii_text("VersionString1"), records=records, images=images)


def three_at_one_place() -> Built:
    """openbmc/libpldm, tests of its C++ bindings: three components that share one image of one byte."""
    built = three()
    for image in built.images:
        image.offset, image.size, image.data = 326, 1, b""
    built.images[0].data = b"\0"
    built.images[2].classification = 11
    return built


def with_everything() -> Built:
    """openbmc/libpldm, DSP0267 1.3: manifests, a downstream device, opaque data; its image lies in the header."""
    device = Record([descriptor(2, UUID_1)], ascii_text("VersionString2"), flags=1, applicable={0})
    device.manifest = manifest(3, b"\x20\xaf", b"\x21\x22\x23\x24")
    downstream = Record([descriptor(2, UUID_1)], ascii_text("VersionString1"), flags=1, applicable={0})
    downstream.stamp, downstream.package_data = 0x0A090A09, b"\xde\xde\xfe"
    downstream.manifest = manifest(3, b"\x1d\xa0", b"\x31\x32\x33\x34")
    image = Image(b"\0", ascii_text("VersionString3"), offset=139, opaque=b"\5\4\3\2\1")
    return Built(4, ascii_text("VersionString1"), records=[device], downstream=[downstream], images=[image])
