"""What is in a ZIP or tar archive: names, and the MANIFEST of OpenBMC. Nothing is unpacked; every step is bounded."""

from collections.abc import Iterator
from dataclasses import dataclass

from provisioner.firmware.package.source import Source

_MOST_NAMES = 1024
_MOST_DIRECTORY_BYTES = 2**18
_MOST_MEMBERS = 64
_MOST_MANIFEST_BYTES = 4096
_END_BYTES = 22
_MOST_COMMENT_BYTES = 0xFFFF
_TAR_BLOCK = 512


@dataclass(frozen=True, slots=True)
class TarMember:
    """One file of a tar archive."""

    name: str
    offset: int
    size_bytes: int


def zip_names(source: Source) -> tuple[str, ...] | None:
    """Names of the files in a ZIP archive, also one behind a program (APPNOTE.TXT 4.3.16); None where there is none.

    At most 1024 names, and nothing of a directory that is larger than 256 KiB.
    """
    tail_bytes = min(source.size_bytes, _END_BYTES + _MOST_COMMENT_BYTES)
    tail = source.read(source.size_bytes - tail_bytes, tail_bytes)
    end = tail.rfind(b"PK\5\6")
    if end < 0 or len(tail) - end < _END_BYTES:
        return None
    directory_bytes = int.from_bytes(tail[end + 12 : end + 16], "little")
    start = source.size_bytes - tail_bytes + end - directory_bytes
    if start < 0:
        return None
    directory = source.read(start, min(directory_bytes, _MOST_DIRECTORY_BYTES))
    return tuple(name for _, name in zip(range(_MOST_NAMES), _names(directory), strict=False))


def tar_members(source: Source) -> Iterator[TarMember]:
    """Regular files of a tar archive (POSIX ustar), from its first headers; ends at the first that is none."""
    offset = 0
    for _ in range(_MOST_MEMBERS):
        if offset + _TAR_BLOCK > source.size_bytes:
            return
        header = source.read(offset, _TAR_BLOCK)
        size_bytes = _octal(header[124:136])
        if header[257:262] != b"ustar" or size_bytes is None:
            return
        offset += _TAR_BLOCK
        if header[156:157] in {b"0", b"\0"} and offset + size_bytes <= source.size_bytes:
            yield TarMember(_text(header[:100]).removeprefix("./"), offset, size_bytes)
        offset += -(-size_bytes // _TAR_BLOCK) * _TAR_BLOCK


def openbmc_manifest(source: Source, members: tuple[TarMember, ...]) -> dict[str, str]:
    """The lines `name=value` of the file MANIFEST; empty where there is none, or a large one."""
    for member in members:
        if member.name == "MANIFEST" and member.size_bytes <= _MOST_MANIFEST_BYTES:
            text = _text(source.read(member.offset, member.size_bytes))
            pairs = (line.partition("=") for line in text.splitlines())
            return {name.strip(): value.strip() for name, equals, value in pairs if equals}
    return {}


def _names(directory: bytes) -> Iterator[str]:
    at = 0
    while directory[at : at + 4] == b"PK\1\2" and at + 46 <= len(directory):
        name, extra, comment = (int.from_bytes(directory[at + one : at + one + 2], "little") for one in (28, 30, 32))
        yield _text(directory[at + 46 : at + 46 + name])
        at += 46 + name + extra + comment


def _octal(field: bytes) -> int | None:
    try:
        return int(field.rstrip(b"\0 ") or b"0", 8)
    except ValueError:
        return None


def _text(data: bytes) -> str:
    return data.rstrip(b"\0").split(b"\0")[0].decode("utf-8", "backslashreplace")
