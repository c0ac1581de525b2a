"""Assembling boot programs: binutils, sbsign and the emulated firmware read what was written."""

import itertools
import struct
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from emulator.netboot.fetch import File
from emulator.netboot.image import EfiBinary, Kind, kind_of, read_efi
from images.boot_program.pe import ProgramError, archive_program, assemble, is_signed, machine_of, read_program
from images.boot_program.signing import sign
from tests.images.programs import IPXE, STUB, SYSTEMD_BOOT, keys, need_tools, small_kernel, stub
from tests.requirements import need

SECTIONS = [
    (".osrel", b"ID=firstlight\n"),
    (".cmdline", b"boot=firstlight console=ttyS0"),
    (".uname", b"6.1.0-57-cloud-amd64"),
    (".initrd", bytes(range(256)) * 40),
    (".linux", small_kernel()),
]


def as_firmware(content: bytes) -> EfiBinary:
    return read_efi(File("http://site/x.efi", "application/efi", "sha256:", content))


def test_binutils_finds_every_section_with_its_bytes(tmp_path: Path) -> None:
    """The UAPI's UKI specification (UAPI.5) names the sections; objcopy is another reader of the format."""
    need_tools("objcopy")
    program = tmp_path / "uki.efi"
    program.write_bytes(assemble(stub(), SECTIONS))
    for name, content in SECTIONS:
        out = tmp_path / "section"
        subprocess.run(["objcopy", f"--dump-section={name}={out}", program, tmp_path / "copy"], check=True)
        assert out.read_bytes()[: len(content)] == content
        assert not out.read_bytes()[len(content) :].strip(b"\0")


def test_sections_stand_behind_each_other_in_memory_and_the_stubs_own_are_untouched(tmp_path: Path) -> None:
    """Two sections at one address would overwrite each other when the firmware loads them."""
    need_tools("objdump")
    path = tmp_path / "uki.efi"
    path.write_bytes(assemble(stub(), SECTIONS))
    listed = subprocess.run(["objdump", "--section-headers", path], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in listed.splitlines() if line.strip()[:1].isdigit()]
    new = [(int(row[3], 16), int(row[2], 16), int(row[5], 16), row[1]) for row in rows][-len(SECTIONS) :]
    assert [row[3] for row in new] == [name for name, _ in SECTIONS]
    assert all(address % 4096 == 0 and raw_at % 512 == 0 for address, _, raw_at, _ in new)
    assert all(one[0] + one[1] <= other[0] for one, other in itertools.pairwise(new))
    program = read_program(path.read_bytes())
    own = len(program.entries) - len(SECTIONS)
    assert program.entries[:own] == read_program(stub()).entries
    assert program.size_of_image >= new[-1][0] + new[-1][1]


def test_a_kernel_gets_the_room_it_asks_for() -> None:
    """systemd 257's stub runs the kernel where it lies; ukify makes its section as large for that reason."""
    kernel = small_kernel(size_of_image=9 * 4096)
    entry = read_program(assemble(stub(), [(".linux", kernel)])).entries[-1]
    assert entry.size == 9 * 4096
    assert entry.raw_size < entry.size


def test_the_emulated_firmware_reads_the_words_and_the_parts() -> None:
    read = as_firmware(assemble(stub(), SECTIONS))
    assert (read.arch, read.command_line) == ("x86_64", "boot=firstlight console=ttyS0")
    assert read.sections[".initrd"] == dict(SECTIONS)[".initrd"]


def test_equal_input_gives_equal_bytes() -> None:
    assert assemble(stub(), SECTIONS) == assemble(stub(), SECTIONS)


@given(some.lists(some.binary(min_size=1, max_size=1500), min_size=1, max_size=6))
def test_every_content_comes_back(contents: list[bytes]) -> None:
    sections = [(f".s{number}", content) for number, content in enumerate(contents)]
    program = archive_program("arm64", sections)
    assert as_firmware(program).sections == dict(sections)
    assert len(program) % 512 == 0


@pytest.mark.parametrize("path", [STUB, SYSTEMD_BOOT], ids=lambda path: path.name)
def test_the_checksum_follows_the_rule_that_the_linker_follows(path: Path) -> None:
    """GNU ld wrote the checksums of these two: the plain rule below gives theirs, and ours."""
    need(path.is_file(), "systemd-boot-efi is not installed")
    linked = path.read_bytes()
    assembled = assemble(linked, [(".extra", b"\xff" * 3000)])
    for content in (linked, assembled):
        at = read_program(content).optional_at + 64
        words = struct.unpack(f"<{-(-len(content) // 2)}H", content + b"\0" * (len(content) % 2))
        total = sum(words) - sum(struct.unpack_from("<HH", content, at))
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        assert struct.unpack_from("<I", content, at)[0] == total + len(content)


@pytest.mark.parametrize("arch", ["x86_64", "arm64"])
def test_an_archive_is_carried_by_a_program_without_code(arch: str) -> None:
    program = archive_program(arch, [(".cmdline", b"firstlight.token=x"), (".linux", b"PK\3\4 the archive")])
    read = as_firmware(program)
    assert kind_of(program) is Kind.EFI
    assert (machine_of(program), read.arch, read.command_line) == (arch, arch, "firstlight.token=x")
    assert read.sections[".linux"] == b"PK\3\4 the archive"


def test_the_signature_of_a_stub_is_taken_off(tmp_path: Path) -> None:
    """A distribution may sign its stub; the signature is wrong once something stands behind it."""
    need_tools("sbsign", "sbverify")
    signed = sign(stub(), keys(tmp_path / "keys"))
    made = assemble(signed, SECTIONS)
    assert not is_signed(made)
    assert made == assemble(stub(), SECTIONS)


@pytest.mark.parametrize(
    ("sections", "reason"),
    [
        ([(".linux", b"a"), (".linux", b"b")], r"has a section \.linux already"),
        ([(".text", b"a")], r"has a section \.text already: a bare stub has none"),
        ([(".toolongname", b"a")], "at most 8 ASCII characters"),
        ([(".initrd", b"")], r"the section \.initrd would be empty"),
        ([(f".s{number}", b"x") for number in range(20)], "headers have room for 7 more sections, 20 are needed"),
    ],
)
def test_what_cannot_be_written_is_refused(sections: list[tuple[str, bytes]], reason: str) -> None:
    with pytest.raises(ProgramError, match=reason):
        assemble(stub(), sections)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "does not begin with MZ"),
        (b"\x1f\x8b gzip", "does not begin with MZ"),
        (b"MZ", "headers end too early"),
        (b"MZ" + bytes(200), "has no PE header"),
    ],
)
def test_what_is_no_program_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(ProgramError, match=reason):
        read_program(content)


def test_a_program_of_32_bits_is_refused() -> None:
    content = bytearray(stub())
    at = read_program(stub()).optional_at
    content[at : at + 2] = b"\x0b\x01"
    with pytest.raises(ProgramError, match="no 64-bit program"):
        assemble(bytes(content), SECTIONS)


@given(some.integers(min_value=0, max_value=60_000))
def test_a_stub_that_is_cut_off_is_refused(length: int) -> None:
    with pytest.raises(ProgramError):
        assemble(stub()[:length], SECTIONS)


def test_an_architecture_without_a_machine_type_is_refused() -> None:
    with pytest.raises(ProgramError, match="no machine type is known for riscv64; known are x86_64, arm64"):
        archive_program("riscv64", [(".linux", b"x")])


def test_debians_ipxe_is_read() -> None:
    need(IPXE.is_file(), "ipxe is not installed")
    assert machine_of(IPXE.read_bytes()) == "x86_64"
