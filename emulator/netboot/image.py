"""What a fetched file is: told by its first bytes, as firmware does where nobody says it."""

import struct
from dataclasses import dataclass
from enum import StrEnum

from emulator.netboot.boot_error import BootError
from emulator.netboot.fetch import File, shown

SCRIPT = b"#!ipxe"
_ISO_AT, _ISO = 32769, b"CD001"
_ARCHES = {0x8664: "x86_64", 0xAA64: "arm64"}
_TYPES = {
    "application/efi": "efi",
    "application/vnd.efi-iso": "iso",
    "application/vnd.efi-img": "img",
}
_LONGEST_SCRIPT_BYTES = 2**20


class Kind(StrEnum):
    """What can be started."""

    SCRIPT = "script"
    EFI = "efi"
    LINUX = "linux"
    ISO = "iso"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class EfiBinary:
    """A PE image: its architecture, where its signature is, and the sections of a unified kernel image.

    `signature`: place and size of the table of certificates in the file, or nothing. `checksum_at`, `directory_at`:
    what a signature does not cover, besides itself.
    """

    arch: str
    signature: tuple[int, int] | None
    checksum_at: int
    directory_at: int
    sections: dict[str, bytes]

    @property
    def command_line(self) -> str | None:
        """Of a unified kernel image (UAPI.5)."""
        section = self.sections.get(".cmdline")
        return None if section is None else section.rstrip(b"\0").decode("utf-8", "replace").strip()


def kind_of(content: bytes) -> Kind:
    """Pure. An EFI-stub kernel is LINUX: it needs a command line from whoever starts it."""
    if content.startswith(SCRIPT):
        return Kind.SCRIPT
    if content[0x202:0x206] == b"HdrS" or content[0x38:0x3C] == b"ARM\x64":
        return Kind.LINUX
    if content.startswith(b"MZ"):
        return Kind.EFI
    return Kind.ISO if content[_ISO_AT : _ISO_AT + len(_ISO)] == _ISO else Kind.OTHER


def declared_type(file: File) -> str | None:
    """efi, iso or img as UEFI HTTP boot tells them: by Content-Type, then by the end of the path; None: neither."""
    if file.content_type in _TYPES:
        return _TYPES[file.content_type]
    ending = file.url.partition("?")[0][-4:]
    return ending[1:] if ending in (".efi", ".iso", ".img") else None


def embedded_script(content: bytes) -> bytes | None:
    """The script inside an iPXE binary or an ISO made with one, up to its NUL or its end."""
    start = content.find(SCRIPT + b"\n")
    if start < 0:
        return None
    end = content.find(b"\0", start)
    return content[start : end if end >= 0 else None][:_LONGEST_SCRIPT_BYTES]


def read_efi(file: File) -> EfiBinary:
    """The PE image; raises BootError for a broken one."""
    content = file.content
    try:
        at = struct.unpack_from("<I", content, 0x3C)[0]
        if content[at : at + 4] != b"PE\0\0":
            raise ValueError("no PE header")
        machine, sections = struct.unpack_from("<HH", content, at + 4)
        optional_size = struct.unpack_from("<H", content, at + 20)[0]
        directories = at + 24 + (112 if content[at + 24 : at + 26] == b"\x0b\x02" else 96)
        directory = directories + 4 * 8
        signature = struct.unpack_from("<II", content, directory) if optional_size > 144 else (0, 0)
        table = at + 24 + optional_size
        return EfiBinary(
            _ARCHES.get(machine, f"machine type 0x{machine:04x}"),
            signature if signature[1] else None,
            at + 24 + 64,
            directory,
            dict(_section(content, table + 40 * number) for number in range(min(sections, 96))),
        )
    except (struct.error, ValueError) as error:
        raise BootError(f"{shown(file.url)} is a broken EFI binary: {error}") from error


def _section(content: bytes, at: int) -> tuple[str, bytes]:
    name, size, _address, raw_size, raw_at = struct.unpack_from("<8sIIII", content, at)
    length = min(size, raw_size) or raw_size
    return name.rstrip(b"\0").decode("ascii", "replace"), content[raw_at : raw_at + length]
