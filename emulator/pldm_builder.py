"""Writes firmware packages in the form of DSP0267 1.0 for whole boards: a record and a component for each device."""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

_DSP0267_1_0 = UUID("f018878c-cb7d-4943-9800-a02f059aca02").bytes
_NVIDIA = 5703
"""IANA's number of the enterprise."""
_ASCII = 1
_CONTINUES = 1
_UNUSED_STAMP = 0xFFFFFFFF
_FIRMWARE = 10
_FIXED_BYTES = 36


@dataclass(frozen=True, slots=True)
class Device:
    """One kind of device of a board, and its firmware. `sku`: of its vendor-defined descriptor, in hexadecimal."""

    name: str
    sku: str
    identifier: int
    version: str
    image: bytes

    @property
    def title(self) -> str:
        """What NVIDIA calls the descriptor: roots of trust have one of their own."""
        return "ECSKU" if "erot" in self.name else "APSKU"


def build_board(version: str, devices: Sequence[Device], *, continues: bool = True) -> bytes:
    """The package, byte for byte the same everywhere. `continues`: a component that fails does not keep the others."""
    bits = -(-len(devices) // 8) * 8
    records = b"".join(_record(one, index, bits // 8, continues=continues) for index, one in enumerate(devices))
    size = _FIXED_BYTES + len(version) + 1 + len(records) + 2 + sum(22 + len(one.version) for one in devices) + 4
    head = _DSP0267_1_0 + struct.pack("<BH", 1, size) + bytes(13)
    head += struct.pack("<HBB", bits, _ASCII, len(version)) + version.encode("ascii")
    head += bytes([len(devices)]) + records + struct.pack("<H", len(devices))
    offset = size
    for one in devices:
        head += struct.pack("<HHIHH", _FIRMWARE, one.identifier, _UNUSED_STAMP, 0, 0)
        head += struct.pack("<IIBB", offset, len(one.image), _ASCII, len(one.version)) + one.version.encode("ascii")
        offset += len(one.image)
    head += struct.pack("<I", zlib.crc32(head))
    return head + b"".join(one.image for one in devices)


def _record(device: Device, index: int, bitmap_bytes: int, *, continues: bool) -> bytes:
    enterprise = struct.pack("<HHI", 1, 4, _NVIDIA)
    title, sku = device.title.encode("ascii"), bytes.fromhex(device.sku)
    own = struct.pack("<BB", _ASCII, len(title)) + title + sku
    descriptors = enterprise + struct.pack("<HH", 0xFFFF, len(own)) + own
    name = device.name.encode("ascii")
    flags = _CONTINUES if continues else 0
    body = struct.pack("<BIBBH", 2, flags, _ASCII, len(name), 0)
    body += (1 << index).to_bytes(bitmap_bytes, "little") + name + descriptors
    return struct.pack("<H", len(body) + 2) + body
