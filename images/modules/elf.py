"""One section of an ELF file: as much of the format as kernel modules need (System V ABI, chapter 4)."""

import struct

from images.modules.errors import ModuleUnreadableError

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_MAGIC = b"\x7fELF\x02\x01"
_RELOCATABLE = 1
_NO_BITS = 8


def section(content: bytes, name: str) -> bytes:
    """Return the bytes of a section; empty where the file has none of that name.

    Raises ModuleUnreadableError unless it is a whole relocatable 64-bit little-endian file.
    """
    if content[: len(_MAGIC)] != _MAGIC or len(content) < _HEADER.size:
        raise ModuleUnreadableError("is no 64-bit little-endian ELF file")
    header = _HEADER.unpack_from(content)
    kind, table_at, entry_bytes, entries, names_index = header[1], header[6], header[11], header[12], header[13]
    if kind != _RELOCATABLE or entry_bytes != _SECTION.size:
        raise ModuleUnreadableError("is an ELF file, and no kernel module")
    if table_at + entries * entry_bytes > len(content) or names_index >= entries:
        raise ModuleUnreadableError("is cut short: its table of sections lies beyond its end")
    table = [_SECTION.unpack_from(content, table_at + index * entry_bytes) for index in range(entries)]
    names = _bytes_of(content, table[names_index])
    for one in table:
        if names[one[0] :].partition(b"\0")[0] == name.encode():
            return _bytes_of(content, one)
    return b""


def _bytes_of(content: bytes, entry: tuple[int, ...]) -> bytes:
    kind, offset, size = entry[1], entry[4], entry[5]
    if kind == _NO_BITS:
        return b""
    if offset + size > len(content):
        raise ModuleUnreadableError("is cut short: a section lies beyond its end")
    return content[offset : offset + size]
