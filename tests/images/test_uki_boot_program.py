"""Boot programs of images: made once from the same input, whoever asks, and kept in the artefact store."""

import json
import multiprocessing
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.netboot.fetch import File
from emulator.netboot.image import read_efi
from images.boot_program.build import BootProgram, BootProgramError, Shelf, boot_program, loader_program
from images.boot_program.pe import archive_program, is_signed
from images.boot_program.signing import SigningPair, signed_by
from images.build import build_image
from images.manifest import Artefact, Bootable, ImageManifest
from images.store import ArtefactStore
from tests.images.programs import STUB, keys, need_tools, small_kernel, stub

WORDS = ("boot=firstlight", "firstlight.server=http://site:8410")
INITRD = b"an initrd of some bytes"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(ArtefactStore(tmp_path / "artefacts"), tmp_path / "boot-programs")


def debian(shelf: Shelf, *, kernel: bytes | None = None, secure_boot: bool = False) -> ImageManifest:
    """An image with a kernel, whose files are in the store."""
    stub()  # or skipped
    parts = {"kernel": small_kernel() if kernel is None else kernel, "initrd": INITRD, "root": b"root"}
    artefacts = [Artefact(role, shelf.store.put_bytes(content), len(content)) for role, content in parts.items()]
    bootable = Bootable("6.1.0-57-cloud-amd64", ("boot=firstlight",), "0" * 64, 4096, 256, "http", secure_boot)
    manifest = ImageManifest("debian-12-base", "x86_64", tuple(artefacts), bootable)
    shelf.store.put_bytes(manifest.canonical_json())
    return manifest


def make(
    shelf: Shelf, manifest: ImageManifest, words: tuple[str, ...] = WORDS, signing: SigningPair | None = None
) -> BootProgram:
    return boot_program(manifest, words, shelf, stub=STUB, signing=signing)


def content_of(shelf: Shelf, program: BootProgram) -> bytes:
    return shelf.store.verify(program.digest).read_bytes()


def sections_of(content: bytes) -> dict[str, bytes]:
    return read_efi(File("http://site/x.efi", "application/efi", "sha256:", content)).sections


def test_it_holds_the_kernel_the_initrd_and_the_words(shelf: Shelf) -> None:
    """UAPI.5; os-release names the image, so that boot menus and bootctl show which one it is."""
    manifest = debian(shelf)
    program = make(shelf, manifest)
    sections = sections_of(content_of(shelf, program))
    assert sections[".cmdline"] == b"boot=firstlight firstlight.server=http://site:8410"
    assert sections[".uname"] == b"6.1.0-57-cloud-amd64"
    assert sections[".initrd"] == INITRD
    assert sections[".linux"].startswith(small_kernel())
    os_release = sections[".osrel"].decode().splitlines()
    assert "IMAGE_ID=debian-12-base" in os_release
    assert f"IMAGE_VERSION={manifest.digest.removeprefix('sha256:')}" in os_release
    assert program == BootProgram(program.digest, len(content_of(shelf, program)), signed=False)


def test_an_image_without_a_kernel_is_carried_by_a_program_without_code(shelf: Shelf) -> None:
    """The agent image runs on emulated servers only; it needs no stub."""
    manifest = build_image("burn-in", "arm64", shelf.store)
    program = boot_program(manifest, WORDS, shelf, stub=None, signing=None)
    root = shelf.store.path(manifest.artefact("root").digest).read_bytes()
    assert sections_of(content_of(shelf, program)) == {".cmdline": " ".join(WORDS).encode(), ".linux": root}


def test_the_same_input_in_two_places_is_one_program(shelf: Shelf, tmp_path: Path) -> None:
    other = Shelf(ArtefactStore(tmp_path / "other"), tmp_path / "other-programs")
    assert make(shelf, debian(shelf)) == make(other, debian(other))


def test_a_signed_program_is_signed_once(shelf: Shelf, tmp_path: Path) -> None:
    """A signature holds its time: signing for each request would give each node another digest."""
    need_tools("sbsign", "sbverify")
    pair = keys(tmp_path / "keys")
    manifest = debian(shelf, secure_boot=True)
    first = make(shelf, manifest, signing=pair)
    noted = {path: path.stat().st_mtime_ns for path in shelf.folder.glob("*.json")}
    assert make(shelf, manifest, signing=pair) == first
    assert first.signed
    assert signed_by(content_of(shelf, first), pair.certificate)
    assert {path: path.stat().st_mtime_ns for path in shelf.folder.glob("*.json")} == noted


@pytest.mark.parametrize("what", ["words", "image", "stub", "certificate"])
def test_another_input_is_another_program(what: str, shelf: Shelf, tmp_path: Path) -> None:
    need_tools("sbsign", "sbverify")
    pair = keys(tmp_path / "keys")
    manifest = debian(shelf)
    first = make(shelf, manifest, signing=pair)
    other_stub = tmp_path / "other.stub"
    other_stub.write_bytes(stub()[:0x40] + b"\1" + stub()[0x41:])
    changed = {
        "words": lambda: make(shelf, manifest, (*WORDS, "quiet"), signing=pair),
        "image": lambda: make(shelf, debian(shelf, kernel=small_kernel(size_of_image=4 * 4096)), signing=pair),
        "stub": lambda: boot_program(manifest, WORDS, shelf, stub=other_stub, signing=pair),
        "certificate": lambda: make(shelf, manifest, signing=keys(tmp_path / "new")),
    }[what]()
    assert changed.digest != first.digest


@pytest.mark.parametrize("damage", ["note is half written", "program is gone", "program is cut off"])
def test_what_was_lost_is_made_again(damage: str, shelf: Shelf) -> None:
    manifest = debian(shelf)
    first = make(shelf, manifest)
    (note,) = shelf.folder.glob("*.json")
    path = shelf.store.path(first.digest)
    if damage == "note is half written":
        note.write_text(note.read_text()[:50])
    elif damage == "program is gone":
        path.unlink()
    else:
        path.chmod(0o644)
        os.truncate(path, 100)
    assert make(shelf, manifest) == first
    assert len(content_of(shelf, first)) == first.size_bytes
    assert json.loads(note.read_text())["program"]["digest"] == first.digest


def _make_signed(folder: Path, start: "multiprocessing.synchronize.Event", made: "multiprocessing.Queue[str]") -> None:
    shelf = Shelf(ArtefactStore(folder / "artefacts"), folder / "boot-programs")
    manifest = debian(shelf)
    start.wait()
    made.put(make(shelf, manifest, signing=SigningPair(folder / "keys/db.key", folder / "keys/db.pem")).digest)


def test_processes_that_ask_at_once_get_the_same_program(tmp_path: Path) -> None:
    """Two workers, or two API processes, on one data folder: one signs, the others wait for its program."""
    need_tools("sbsign", "sbverify")
    keys(tmp_path / "keys")
    context = multiprocessing.get_context("fork")
    start, made = context.Event(), context.Queue()
    workers = [context.Process(target=_make_signed, args=(tmp_path, start, made)) for _ in range(4)]
    for worker in workers:
        worker.start()
    start.set()
    digests = {made.get(timeout=60) for _ in workers}
    for worker in workers:
        worker.join(60)
    assert len(digests) == 1
    assert [path.name for path in (tmp_path / "boot-programs").glob(".new-*")] == []


def _without_initrd(shelf: Shelf) -> ImageManifest:
    manifest = debian(shelf)
    return replace(manifest, artefacts=tuple(one for one in manifest.artefacts if one.role != "initrd"))


def _with_lost_kernel(shelf: Shelf) -> ImageManifest:
    manifest = debian(shelf)
    shelf.store.path(manifest.artefact("kernel").digest).unlink()
    return manifest


def _with_changed_kernel(shelf: Shelf) -> ImageManifest:
    manifest = debian(shelf)
    path = shelf.store.path(manifest.artefact("kernel").digest)
    path.chmod(0o644)
    path.write_bytes(b"x" * path.stat().st_size)
    return manifest


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (lambda shelf: debian(shelf, secure_boot=True), "is for Secure Boot, and site.yaml has no network_boot.sign"),
        (lambda shelf: debian(shelf, kernel=b"\x1f\x8b gzip"), "the kernel is no program of UEFI firmware"),
        (lambda shelf: debian(shelf, kernel=small_kernel("arm64")), "is for x86_64, and the kernel is for arm64"),
        (_without_initrd, "has no initrd: build it again"),
        (_with_lost_kernel, "its kernel cannot be read: .* `firstlight image build debian-12-base` makes it again"),
        (_with_changed_kernel, "its kernel cannot be read: .*its bytes have changed"),
    ],
)
def test_every_reason_for_no_program_is_said(
    image: Callable[[Shelf], ImageManifest], reason: str, shelf: Shelf
) -> None:
    with pytest.raises(BootProgramError, match=reason):
        make(shelf, image(shelf))
    assert list(shelf.folder.glob("*.json")) == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("x" * 2048,), "has 2048 bytes and a kernel takes 2047"),
        (("init=/bin/sh\n",), "not printable ASCII"),
        (("name=\N{LATIN SMALL LETTER E WITH ACUTE}",), "not printable ASCII"),
    ],
)
def test_words_that_a_kernel_would_cut_or_misread_are_refused(
    words: tuple[str, ...], reason: str, shelf: Shelf
) -> None:
    with pytest.raises(BootProgramError, match=reason):
        make(shelf, debian(shelf), words)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (None, "needs a stub for x86_64: apt install systemd-boot-efi"),
        (Path("/absent.stub"), r"/absent\.stub \(site\.yaml, network_boot\.stub\) cannot be read"),
    ],
)
def test_a_missing_stub_is_named(path: Path | None, reason: str, shelf: Shelf) -> None:
    with pytest.raises(BootProgramError, match=reason):
        boot_program(debian(shelf), WORDS, shelf, stub=path, signing=None)


def test_the_sites_ipxe_is_signed_where_the_site_signs(shelf: Shelf, tmp_path: Path) -> None:
    """Firmware with the site's own keys refuses ipxe.efi as Debian ships it."""
    need_tools("sbsign", "sbverify")
    loader = tmp_path / "ipxe.efi"
    loader.write_bytes(archive_program("x86_64", [(".text", b"iPXE")]))
    pair = keys(tmp_path / "keys")
    bare = loader_program(loader, shelf, signing=None)
    signed = loader_program(loader, shelf, signing=pair)
    assert content_of(shelf, bare) == loader.read_bytes()
    assert signed_by(content_of(shelf, signed), pair.certificate)
    assert (bare.signed, signed.signed) == (False, True)
    assert loader_program(loader, shelf, signing=pair) == signed


def test_a_loader_that_the_site_has_signed_itself_is_taken_as_it_is(shelf: Shelf, tmp_path: Path) -> None:
    need_tools("sbsign", "sbverify")
    pair = keys(tmp_path / "keys")
    loader = tmp_path / "ipxe.efi"
    loader.write_bytes(archive_program("x86_64", [(".text", b"iPXE")]))
    first = content_of(shelf, loader_program(loader, shelf, signing=pair))
    loader.write_bytes(first)
    assert is_signed(first)
    assert content_of(shelf, loader_program(loader, shelf, signing=pair)) == first
