"""PE images that are just enough of one for firmware to tell them apart."""

import struct
from collections.abc import Mapping

X86_64, ARM64 = 0x8664, 0xAA64


def build_efi(
    machine: int = X86_64, sections: Mapping[str, bytes] | None = None, *, signed: bool = False, trailer: bytes = b""
) -> bytes:
    """A PE32+ image with these sections; `trailer` follows them."""
    parts = sections or {}
    at = 0x80
    optional = bytearray(240)
    struct.pack_into("<H", optional, 0, 0x20B)
    struct.pack_into("<II", optional, 112 + 4 * 8, 0x1000 if signed else 0, 0x400 if signed else 0)
    header = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", at)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", machine, len(parts), 0, 0, 0, len(optional), 0)
    raw_at = at + len(coff) + len(optional) + 40 * len(parts)
    table, content = b"", b""
    for name, part in parts.items():
        place = raw_at + len(content)
        table += struct.pack("<8sIIIIIIHHI", name.encode(), len(part), 0, len(part), place, 0, 0, 0, 0, 0)
        content += part
    return header.ljust(at, b"\0") + coff + bytes(optional) + table + content + trailer


def build_iso(content: bytes) -> bytes:
    """An ISO 9660 volume descriptor, and `content` behind it."""
    return bytes(32768) + b"\1CD001\1" + bytes(2041) + content
