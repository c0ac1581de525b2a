"""Firmware files of many makers, each made here with the signature that a public source documents."""

import gzip
import io
import struct
import tarfile
import uuid
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emulator.kind import load_kind
from emulator.package import build_package
from emulator.package import packages as emulated
from provisioner.errors import BadInput, PackageError
from provisioner.firmware.package.inspect import inspect, inspect_file
from provisioner.firmware.package.kinds import Kind, recognise
from provisioner.firmware.package.source import BufferSource, FileSource
from tests.firmware_package import vectors


def zipped(*names: str, stub: bytes = b"") -> bytes:
    """A ZIP archive, behind a program where there is a `stub`."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, b"content of " + name.encode())
    return stub + file.getvalue()


def tarred(**files: str) -> bytes:
    """A tar archive."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return file.getvalue()


def program() -> bytes:
    """The start of a Windows program: MZ, and where the PE header is."""
    return b"MZ".ljust(60, b"\0") + struct.pack("<I", 128) + bytes(64) + b"PE\0\0" + bytes(200)


def capsule(identifier: str, size_bytes: int = 64) -> bytes:
    """A UEFI capsule header and nothing behind it."""
    return (uuid.UUID(identifier).bytes_le + struct.pack("<III", 28, 0x50000, size_bytes)).ljust(64, b"\0")


FMP = "6dcbd5ed-e82d-4c44-bda1-7194199ad92a"
MANIFEST = "purpose=xyz.openbmc_project.Software.Version.VersionPurpose.BMC\nversion=25.06-A\nMachineName=gb200\n"
FILES = [
    (vectors.single().encode(), Kind.PLDM, "DSP0267"),
    (zipped("payload/firmimg.d9", "package.xml", stub=program()), Kind.DELL_UPDATE_PACKAGE, "iDRAC"),
    (program(), Kind.WINDOWS_PROGRAM, "Windows"),
    (zipped("a.txt", stub=program()), Kind.WINDOWS_PROGRAM, "Windows"),
    (b"#!/bin/sh\nexit 1\n", Kind.SHELL_PROGRAM, "host"),
    (zipped("payload.json", "ilo5_301.bin"), Kind.HPE_FWPKG, "payload.json"),
    (zipped("readme.txt"), Kind.ZIP, "ZIP"),
    (capsule(FMP), Kind.UEFI_CAPSULE, "firmware management capsule"),
    (capsule("4a3ca68b-7723-48fb-803d-578cc1fec44d"), Kind.UEFI_CAPSULE, "AMI Aptio"),
    (bytes(16) + b"\x5a\xa5\xf0\x0f" + bytes(100), Kind.INTEL_FLASH, "flash descriptor"),
    (bytes(40) + b"_FVH" + bytes(100), Kind.UEFI_VOLUME, "firmware volume"),
    (bytes.fromhex("27051956") + bytes(28) + b"iDRAC9".ljust(32, b"\0"), Kind.UBOOT_IMAGE, '"iDRAC9"'),
    (bytes.fromhex("d00dfeed00000040") + bytes(56), Kind.DEVICE_TREE, "device tree"),
    (tarred(**{"image-bmc": "x", "MANIFEST": MANIFEST}), Kind.OPENBMC_TAR, "BMC for gb200"),
    (tarred(**{"./MANIFEST": MANIFEST}), Kind.OPENBMC_TAR, "BMC for gb200"),
    (tarred(readme="x"), Kind.TAR, "without a MANIFEST"),
    (gzip.compress(b"x"), Kind.GZIP, "not looked into"),
    (b"ATENs_FW" * 9, Kind.UNKNOWN, "no documented signature"),
    (b"M", Kind.UNKNOWN, "no documented signature"),
]


@pytest.mark.parametrize(("content", "kind", "words"), FILES, ids=lambda one: one if isinstance(one, str) else None)
def test_each_form_is_recognised_by_its_signature(content: bytes, kind: Kind, words: str) -> None:
    """And what has none is unknown, with its size and digest."""
    inspection = inspect(BufferSource(content))
    assert inspection.kind is kind
    assert words in inspection.what
    assert inspection.size_bytes == len(content)
    assert len(inspection.sha256) == 64
    assert (inspection.package is not None) == (kind is Kind.PLDM)


def test_the_version_of_an_openbmc_image_is_in_its_manifest() -> None:
    """OpenBMC, code update: `version` and `purpose` in MANIFEST."""
    assert inspect(BufferSource(tarred(MANIFEST=MANIFEST))).versions == ("25.06-A",)
    assert inspect(BufferSource(tarred(MANIFEST="purpose=x\n"))).kind is Kind.TAR


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "file at byte 0 .*it is empty; copy it here again"),
        (capsule(FMP, size_bytes=65), "capsule.*65 in all; it has 64; get the file"),
        (zipped("payload.json")[:-22], "ZIP archive: its directory, which is at the end, is missing"),
        (bytes.fromhex("d00dfeed00000041") + bytes(56), "device tree.*65 bytes; it has 64"),
    ],
)
def test_a_file_that_is_cut_short_is_refused(content: bytes, words: str) -> None:
    """Where its own header tells how long it is."""
    with pytest.raises(PackageError, match=words):
        inspect(BufferSource(content))


def test_a_fwpkg_that_is_no_package_is_refused_by_its_name(tmp_path: Path) -> None:
    """NVIDIA's are PLDM packages, HPE's are ZIP archives: one whose first bytes are damaged is neither."""
    path = tmp_path / "nvfw.FWPKG"
    path.write_bytes(b"\0" + vectors.single().encode()[1:])
    with pytest.raises(PackageError, match=r"package header identifier at byte 0 .*and this is unknown"):
        inspect_file(path)
    path.write_bytes(zipped("payload.json"))
    assert inspect_file(path).kind is Kind.HPE_FWPKG


def test_a_file_that_is_not_there_or_no_file_is_wrong_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"absent.bin: No such file"):
        inspect_file(tmp_path / "absent.bin")
    with pytest.raises(BadInput, match="name a firmware file"):
        inspect_file(tmp_path)


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path: Path) -> None:
    """Somebody copies another one over it: a memory map would end the process."""
    path = tmp_path / "a.bin"
    path.write_bytes(b"x" * 100)
    with path.open("rb") as file:
        source = FileSource(file.fileno())
        path.write_bytes(b"x" * 40)
        with pytest.raises(PackageError, match=r"file at byte 40 .*shorter while it was read"):
            inspect(source)


def test_packages_of_the_emulator_are_of_no_form_that_makers_have() -> None:
    """`firstlight-emulator firmware` makes them: the service sends them by digest, as it does all that is unknown."""
    persona = load_kind("hgx-h100").persona
    for header in emulated(persona):
        content = build_package(header, 4096)
        inspection = inspect(BufferSource(content))
        assert (inspection.kind, inspection.size_bytes, inspection.findings) == (Kind.UNKNOWN, 4096, ())


@given(st.sampled_from([content for content, _, _ in FILES]), st.data())
def test_damage_is_another_form_or_a_refusal(content: bytes, data: st.DataObject) -> None:
    """One byte changed, the end cut off: never anything but `PackageError`."""
    damaged = bytearray(content)
    damaged[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    del damaged[data.draw(st.integers(0, len(content))) :]
    source = BufferSource(bytes(damaged))
    assert recognise(source).kind in set(Kind)
    with suppress(PackageError):
        assert inspect(source).size_bytes == len(damaged)
