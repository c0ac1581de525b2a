"""Write programs of UEFI firmware: a unified kernel image (UAPI.5) is a stub with sections behind it.

The format: Microsoft, "PE Format". Only what firmware reads is changed: headers, section table, sizes, checksum.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

MACHINES = {"x86_64": 0x8664, "arm64": 0xAA64}
"""Architectures in the words of the kernel."""

_PAGE = 4096
_LARGEST = 2**32 - 1
_PE32_PLUS = 0x20B
_EFI_APPLICATION = 10
_DATA = 0x40000040  # initialised data, may be read
_CODE = 0x60000060  # the same, and code that may be executed
_ENTRY = struct.Struct("<8sIIIIIIHHI")
_ENTRY_AT_SIZE_OF_IMAGE, _AT_SIZE_OF_HEADERS, _AT_CHECKSUM = 56, 60, 64
_AT_SIZE_OF_DATA, _AT_ALIGNMENTS, _AT_DIRECTORIES = 8, 32, 112
_CERTIFICATES = 4  # the number of the data directory that holds signatures
_DOS_STUB_BYTES = 64


class ProgramError(ValueError):
    """The bytes are no program of UEFI firmware, or there is no room for what shall be added."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the section table. Sizes and places in bytes; `address` counts from the start of the loaded image."""

    name: bytes
    size: int
    address: int
    raw_size: int
    raw_at: int
    flags: int

    def packed(self) -> bytes:
        """As it stands in the file."""
        return _ENTRY.pack(self.name, self.size, self.address, self.raw_size, self.raw_at, 0, 0, 0, 0, self.flags)


@dataclass(frozen=True, slots=True)
class Program:
    """What the headers of a program say. `at`: where the file header begins, `optional_at`: the one behind it."""

    at: int
    machine: int
    optional_at: int
    table_at: int
    section_alignment: int
    file_alignment: int
    size_of_image: int
    size_of_headers: int
    certificates_at: int
    certificates_bytes: int
    entries: tuple[Entry, ...]


def read_program(content: bytes) -> Program:
    """Return what the headers say; raise ProgramError unless it is a 64-bit program."""
    try:
        return _read(content)
    except struct.error as error:
        raise ProgramError(f"the headers end too early: {error}") from error


def machine_of(content: bytes) -> str:
    """Return the architecture of a program, in the words of the kernel."""
    machine = read_program(content).machine
    return next((name for name, number in MACHINES.items() if number == machine), f"machine type 0x{machine:04x}")


def is_signed(content: bytes) -> bool:
    """Say whether the program carries a signature; whose and whether it is right is not looked at."""
    return read_program(content).certificates_bytes > 0


def assemble(stub: bytes, sections: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the stub with the sections behind its own, in their order; equal input gives equal bytes.

    A signature of the stub is taken off, as it is wrong for the whole. Raises ProgramError for a stub that has one of
    the sections already, or whose headers have no room for the new lines.
    """
    bare = _bare(stub)
    program = read_program(bare)
    _refuse_names([name for name, _ in sections], program)
    body = bytearray(bare)
    entries = list(program.entries)
    address = max([program.size_of_headers, *(one.address + max(one.size, one.raw_size) for one in entries)])
    for name, content in sections:
        body.extend(bytes(-len(body) % program.file_alignment))
        address = _up(address, max(_PAGE, program.section_alignment))
        entry = _entry(name, content, address)
        entries.append(replace(entry, raw_at=len(body), raw_size=_up(len(content), program.file_alignment)))
        body.extend(content)
        address += entry.size
    body.extend(bytes(-len(body) % program.file_alignment))
    if max(address, len(body)) > _LARGEST:
        raise ProgramError(f"{len(body)} bytes are too many: firmware starts programs of less than 4 GiB")
    _write_headers(body, program, entries)
    return bytes(body)


def archive_program(arch: str, sections: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a program without code: it only carries the sections, and no firmware can run it."""
    return assemble(_hull(arch), sections)


def _read(content: bytes) -> Program:
    if not content.startswith(b"MZ"):
        raise ProgramError("it does not begin with MZ")
    at = struct.unpack_from("<I", content, 0x3C)[0]
    if content[at : at + 4] != b"PE\0\0":
        raise ProgramError("it has no PE header")
    machine, count, _, _, _, optional_size = struct.unpack_from("<HHIIIH", content, at + 4)
    optional_at = at + 24
    if struct.unpack_from("<H", content, optional_at)[0] != _PE32_PLUS or optional_size < _AT_DIRECTORIES + 40:
        raise ProgramError("it is no 64-bit program")
    section_alignment, file_alignment = struct.unpack_from("<II", content, optional_at + _AT_ALIGNMENTS)
    if not (section_alignment and file_alignment):
        raise ProgramError("it says no alignment")
    size_of_image, size_of_headers = struct.unpack_from("<II", content, optional_at + _ENTRY_AT_SIZE_OF_IMAGE)
    certificates = struct.unpack_from("<II", content, optional_at + _AT_DIRECTORIES + 8 * _CERTIFICATES)
    table_at = optional_at + optional_size
    return Program(
        at=at,
        machine=machine,
        optional_at=optional_at,
        table_at=table_at,
        section_alignment=section_alignment,
        file_alignment=file_alignment,
        size_of_image=size_of_image,
        size_of_headers=size_of_headers,
        certificates_at=certificates[0],
        certificates_bytes=certificates[1],
        entries=tuple(_read_entry(content, table_at + _ENTRY.size * number) for number in range(count)),
    )


def _read_entry(content: bytes, at: int) -> Entry:
    name, size, address, raw_size, raw_at, _, _, _, _, flags = _ENTRY.unpack_from(content, at)
    return Entry(name, size, address, raw_size, raw_at, flags)


def _bare(stub: bytes) -> bytes:
    """The stub without a signature and without its symbols, which nothing at run time reads and sbsign warns of."""
    program = read_program(stub)
    body = bytearray(stub)
    struct.pack_into("<II", body, program.optional_at + _AT_DIRECTORIES + 8 * _CERTIFICATES, 0, 0)
    if any(one.name.startswith(b"/") for one in program.entries):  # long names stand behind the symbols
        return bytes(body[: program.certificates_at or None])
    struct.pack_into("<II", body, program.at + 12, 0, 0)
    end = max([program.size_of_headers, *(one.raw_at + one.raw_size for one in program.entries if one.raw_size)])
    if end > len(body):
        raise ProgramError(f"it is cut off: {len(body)} bytes where its sections need {end}")
    return bytes(body[:end])


def _refuse_names(names: list[str], program: Program) -> None:
    there = {one.name.rstrip(b"\0").decode("ascii", "replace") for one in program.entries}
    for number, name in enumerate(names):
        if name in there or name in names[:number]:
            raise ProgramError(f"it has a section {name} already: a bare stub has none")
        if not (name.isascii() and 0 < len(name) <= 8):
            raise ProgramError(f"a section cannot be named {name!r}: at most 8 ASCII characters")


def _entry(name: str, content: bytes, address: int) -> Entry:
    """A kernel gets the room that it asks for: newer stubs (systemd 257) run it where it lies."""
    if not content:
        raise ProgramError(f"the section {name} would be empty")
    is_kernel = name == ".linux" and content.startswith(b"MZ")
    size = max(len(content), read_program(content).size_of_image) if is_kernel else len(content)
    return Entry(name.encode(), size, address, 0, 0, _CODE if is_kernel else _DATA)


def _write_headers(body: bytearray, program: Program, entries: list[Entry]) -> None:
    table_end = program.table_at + _ENTRY.size * len(entries)
    new_at = program.table_at + _ENTRY.size * len(program.entries)
    first = min([len(body), *(one.raw_at for one in program.entries if one.raw_size)])
    room = min([first, *(one.address for one in program.entries)])
    if table_end > room or any(body[new_at:table_end]):
        fits = (room - new_at) // _ENTRY.size if not any(body[new_at:room]) else 0
        more = len(entries) - len(program.entries)
        raise ProgramError(f"its headers have room for {fits} more sections, {more} are needed: use another stub")
    struct.pack_into("<H", body, program.at + 6, len(entries))
    for number, entry in enumerate(entries[len(program.entries) :]):
        at = new_at + _ENTRY.size * number
        body[at : at + _ENTRY.size] = entry.packed()
    _write_sizes(body, program, entries)
    _write_checksum(body, program)


def _write_sizes(body: bytearray, program: Program, entries: list[Entry]) -> None:
    last = entries[-1]
    new = sum(one.raw_size for one in entries[len(program.entries) :])
    at = program.optional_at
    data = struct.unpack_from("<I", body, at + _AT_SIZE_OF_DATA)[0]
    struct.pack_into("<I", body, at + _AT_SIZE_OF_DATA, data + new)
    image = max(program.size_of_image, _up(last.address + last.size, program.section_alignment))
    struct.pack_into("<I", body, at + _ENTRY_AT_SIZE_OF_IMAGE, image)
    table_end = program.table_at + _ENTRY.size * len(entries)
    headers = max(program.size_of_headers, _up(table_end, program.file_alignment))
    struct.pack_into("<I", body, at + _AT_SIZE_OF_HEADERS, headers)


def _write_checksum(body: bytearray, program: Program) -> None:
    """The sum of all 16-bit words with the carries added back, and the length; 65535 divides what a carry moves."""
    struct.pack_into("<I", body, program.optional_at + _AT_CHECKSUM, 0)
    words = int.from_bytes(body, "little") % 0xFFFF or 0xFFFF
    struct.pack_into("<I", body, program.optional_at + _AT_CHECKSUM, words + len(body))


def _hull(arch: str) -> bytes:
    if arch not in MACHINES:
        raise ProgramError(f"no machine type is known for {arch}; known are {', '.join(MACHINES)}")
    optional_size = _AT_DIRECTORIES + 16 * 8
    file_header = struct.pack("<4sHHIIIHH", b"PE\0\0", MACHINES[arch], 0, 0, 0, 0, optional_size, 0x0206)
    headers = bytearray(b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", _DOS_STUB_BYTES) + file_header)
    optional = bytearray(optional_size)
    struct.pack_into("<H", optional, 0, _PE32_PLUS)
    struct.pack_into("<II", optional, _AT_ALIGNMENTS, _PAGE, 512)
    struct.pack_into("<II", optional, _ENTRY_AT_SIZE_OF_IMAGE, _PAGE, 1024)
    struct.pack_into("<H", optional, 68, _EFI_APPLICATION)
    struct.pack_into("<I", optional, 108, 16)
    return bytes(headers + optional).ljust(1024, b"\0")


def _up(size: int, to: int) -> int:
    return -(-size // to) * to
