"""What form a firmware file has, by signatures that public sources document; `UNKNOWN` is an honest answer."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from provisioner.firmware.package.archives import openbmc_manifest, tar_members, zip_names
from provisioner.firmware.package.pldm import revision_of
from provisioner.firmware.package.source import Source

_START_BYTES = 4096


class Kind(StrEnum):
    """Forms of firmware files."""

    PLDM = "pldm"
    DELL_UPDATE_PACKAGE = "dell-update-package"
    WINDOWS_PROGRAM = "windows-program"
    SHELL_PROGRAM = "shell-program"
    HPE_FWPKG = "hpe-fwpkg"
    ZIP = "zip"
    UEFI_CAPSULE = "uefi-capsule"
    UEFI_VOLUME = "uefi-volume"
    INTEL_FLASH = "intel-flash-image"
    UBOOT_IMAGE = "u-boot-image"
    DEVICE_TREE = "flattened-device-tree"
    OPENBMC_TAR = "openbmc-tar"
    TAR = "tar"
    GZIP = "gzip"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Recognised:
    """`what` is for people; `version`: where the form tells one; `problem`: why it cannot be whole."""

    kind: Kind
    what: str
    version: str | None = None
    problem: str | None = None


_CAPSULES = {
    UUID("6dcbd5ed-e82d-4c44-bda1-7194199ad92a"): "UEFI firmware management capsule (UEFI 2.10, 23.3)",
    UUID("3b6686bd-0d76-4030-b70e-b5519e2fc5a0"): "EFI capsule (edk2)",
    UUID("4a3ca68b-7723-48fb-803d-578cc1fec44d"): "AMI Aptio capsule, signed (UEFITool)",
    UUID("14eebb90-890a-43db-aed1-5d3c4588a418"): "AMI Aptio capsule, unsigned (UEFITool)",
    UUID("539182b9-abb5-4391-b69a-e3a943f72fcc"): "Intel capsule (UEFITool)",
    UUID("e20bafd3-9914-4f4f-9537-3129e090eb3c"): "Lenovo capsule (UEFITool)",
}


def recognise(source: Source) -> Recognised:
    """The first form that fits. Reads the start, and the end of archives. Raises `PackageError` if the file shrinks."""
    start = source.read(0, min(_START_BYTES, source.size_bytes))
    if revision_of(start) is not None:
        return Recognised(Kind.PLDM, "PLDM firmware update package (DSP0267)")
    for look in _LOOKS:
        found = look(start, source)
        if found:
            return found
    return Recognised(Kind.UNKNOWN, "no documented signature: known by its size and SHA-256 alone")


def _windows_program(start: bytes, source: Source) -> Recognised | None:
    """The Windows form of a Dell Update Package holds `package.xml` and `payload/` in a ZIP at its end."""
    if start[:2] != b"MZ":
        return None
    header = int.from_bytes(start[60:64], "little")
    if header + 4 > source.size_bytes or source.read(header, 4) != b"PE\0\0":
        return None
    names = zip_names(source) or ()
    if any(name.casefold() == "package.xml" or name.startswith("payload/") for name in names):
        return Recognised(Kind.DELL_UPDATE_PACKAGE, "Dell Update Package for Windows, the form that iDRAC takes")
    return Recognised(Kind.WINDOWS_PROGRAM, "Windows program; Dell Update Packages are such")


def _shell_program(start: bytes, _source: Source) -> Recognised | None:
    if start[:2] != b"#!":
        return None
    return Recognised(
        Kind.SHELL_PROGRAM, "program to run on the host, such as Dell's .BIN for Linux; BMCs take the .EXE"
    )


def _zip(start: bytes, source: Source) -> Recognised | None:
    """HPE's ilorest looks for `payload.json` in a .fwpkg."""
    if start[:4] != b"PK\3\4":
        return None
    names = zip_names(source)
    if names is None:
        return Recognised(Kind.ZIP, "ZIP archive", problem="its directory, which is at the end, is missing")
    if "payload.json" in names:
        return Recognised(Kind.HPE_FWPKG, "HPE .fwpkg: a ZIP archive with payload.json")
    return Recognised(Kind.ZIP, "ZIP archive")


def _capsule(start: bytes, source: Source) -> Recognised | None:
    """EFI_CAPSULE_HEADER: GUID, u32 header size, u32 flags, u32 size of all of it."""
    what = _CAPSULES.get(UUID(bytes_le=start[:16])) if len(start) >= 28 else None
    if what is None:
        return None
    header_bytes, size_bytes = int.from_bytes(start[16:20], "little"), int.from_bytes(start[24:28], "little")
    problem = None
    if size_bytes > source.size_bytes or header_bytes > size_bytes:
        problem = f"its header tells {header_bytes} bytes of header and {size_bytes} in all; it has {source.size_bytes}"
    return Recognised(Kind.UEFI_CAPSULE, what, problem=problem)


def _intel_flash(start: bytes, _source: Source) -> Recognised | None:
    """The signature 0FF0A55Ah of Intel's flash descriptor, behind 16 reserved bytes."""
    if start[16:20] != b"\x5a\xa5\xf0\x0f":
        return None
    return Recognised(Kind.INTEL_FLASH, "flash image with an Intel flash descriptor, such as BIOS .bin files")


def _uefi_volume(start: bytes, _source: Source) -> Recognised | None:
    """EFI_FIRMWARE_VOLUME_HEADER (UEFI Platform Initialization): `_FVH` at 40."""
    if start[40:44] != b"_FVH":
        return None
    return Recognised(Kind.UEFI_VOLUME, "UEFI firmware volume, such as BIOS .bin files")


def _uboot(start: bytes, _source: Source) -> Recognised | None:
    """U-Boot's legacy image header: magic, then 28 bytes, then a name; .d9 files of iDRAC 9 are such."""
    if start[:4] != b"\x27\x05\x19\x56" or len(start) < 64:
        return None
    name = start[32:64].rstrip(b"\0").decode("ascii", "backslashreplace")
    return Recognised(Kind.UBOOT_IMAGE, f'U-Boot image "{name}", such as the .d9 files of iDRAC 9')


def _device_tree(start: bytes, source: Source) -> Recognised | None:
    if start[:4] != b"\xd0\x0d\xfe\xed" or len(start) < 8:
        return None
    size_bytes = int.from_bytes(start[4:8], "big")
    short = f"its header tells {size_bytes} bytes; it has {source.size_bytes}"
    what = "flattened device tree, as FIT images of U-Boot are"
    return Recognised(Kind.DEVICE_TREE, what, problem=short if size_bytes > source.size_bytes else None)


def _tar(start: bytes, source: Source) -> Recognised | None:
    """OpenBMC's code update wants `version` and `purpose` in a file MANIFEST."""
    if start[257:262] != b"ustar":
        return None
    said = openbmc_manifest(source, tuple(tar_members(source)))
    if "purpose" not in said or "version" not in said:
        return Recognised(Kind.TAR, "tar archive without a MANIFEST of OpenBMC")
    machine = f" for {said['MachineName']}" if said.get("MachineName") else ""
    purpose = said["purpose"].rpartition(".")[2]
    return Recognised(Kind.OPENBMC_TAR, f"OpenBMC image, {purpose}{machine}", version=said["version"])


def _gzip(start: bytes, _source: Source) -> Recognised | None:
    return Recognised(Kind.GZIP, "gzip, not looked into") if start[:3] == b"\x1f\x8b\x08" else None


_LOOKS: tuple[Callable[[bytes, Source], Recognised | None], ...] = (
    _windows_program,
    _shell_program,
    _zip,
    _capsule,
    _uboot,
    _device_tree,
    _gzip,
    _tar,
    _intel_flash,
    _uefi_volume,
)
