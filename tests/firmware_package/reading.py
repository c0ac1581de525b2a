"""What the tests of packages share."""

from provisioner.firmware.package.model import PldmPackage
from provisioner.firmware.package.packages import read_package
from provisioner.firmware.package.source import BufferSource


def read(package: bytes, *, strict: bool = False) -> PldmPackage:
    return read_package(BufferSource(package), strict=strict)
