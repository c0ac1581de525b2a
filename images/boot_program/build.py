"""The boot program of an image: what firmware starts by UEFI HTTP boot. Made once for the same input, then kept."""

import fcntl
import hashlib
import json
import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from images.boot_program.pe import ProgramError, archive_program, assemble, machine_of
from images.boot_program.signing import SigningPair, sign, signed_by
from images.digest import Digest, DigestError, digest_of, parse_digest
from images.manifest import ImageManifest
from images.store import ArtefactAbsentError, ArtefactCorruptError, ArtefactError, ArtefactStore

_SCHEMA = "firstlight.boot-program/1"
_LONGEST_COMMAND_LINE = 2047
"""Bytes. The kernel cuts longer ones off without a word (COMMAND_LINE_SIZE of x86 and arm64 is 2048 with the NUL)."""


class BootProgramError(Exception):
    """There is no boot program for this image; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class BootProgram:
    """A program in the artefact store. `signed`: by the site's own key."""

    digest: Digest
    size_bytes: int
    signed: bool


@dataclass(frozen=True, slots=True)
class Shelf:
    """Where boot programs are kept: their bytes in `store`, what they were made of in `folder`."""

    store: ArtefactStore
    folder: Path


def boot_program(
    manifest: ImageManifest,
    command_line: Sequence[str],
    shelf: Shelf,
    *,
    stub: Path | None,
    signing: SigningPair | None,
) -> BootProgram:
    """Return the unified kernel image of an image, or for the bare agent the program that carries its archive.

    The same input gives the same program, also after a restart and where several processes ask at once: one makes it,
    the others wait. `stub`: the systemd stub of the architecture; only images with a kernel need it. Raises
    BootProgramError or SigningError.
    """
    _check_words(manifest, command_line)
    if manifest.bootable is not None and manifest.bootable.secure_boot and signing is None:
        raise BootProgramError(
            f"image {manifest.name} is for Secure Boot, and site.yaml has no network_boot.sign to sign its boot program"
            " with: `firstlight boot keys DIR` makes the keys"
        )
    head = _read(stub, "network_boot.stub") if stub is not None and manifest.bootable is not None else b""
    made_from = {
        "image": manifest.digest,
        "command_line": list(command_line),
        "stub": digest_of(head) if head else None,
    }
    return _kept(shelf, made_from, signing, lambda: _assembled(manifest, command_line, shelf.store, head))


def loader_program(loader: Path, shelf: Shelf, *, signing: SigningPair | None) -> BootProgram:
    """Return a boot loader such as ipxe.efi, signed where the site signs: what the TFTP root and UEFI HTTP serve.

    Under the site's own Secure Boot keys firmware refuses it as Debian ships it. Raises BootProgramError, SigningError.
    """
    content = _read(loader, "network_boot.ipxe")
    return _kept(shelf, {"loader": digest_of(content)}, signing, lambda: content)


def _check_words(manifest: ImageManifest, command_line: Sequence[str]) -> None:
    text = " ".join(command_line)
    if len(text.encode()) > _LONGEST_COMMAND_LINE:
        raise BootProgramError(
            f"image {manifest.name}: its kernel command line has {len(text.encode())} bytes and a kernel takes"
            f" {_LONGEST_COMMAND_LINE}: remove words from the profile, or mirrors from site.yaml"
        )
    if not (text.isascii() and text.isprintable()):
        raise BootProgramError(f"image {manifest.name}: its kernel command line is not printable ASCII: {text!r}")


def _read(path: Path, field: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        why = f"cannot be read ({error.strerror}): install the package that has it, or name the right file"
        raise BootProgramError(f"{path} (site.yaml, {field}) {why}") from error


def _kept(
    shelf: Shelf, made_from: dict[str, Any], signing: SigningPair | None, make: Callable[[], bytes]
) -> BootProgram:
    certificate = None if signing is None else digest_of(_read(signing.certificate, "network_boot.sign.certificate"))
    record = {"schema": _SCHEMA, **made_from, "certificate": certificate}
    key = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    place = shelf.folder / f"{key}.json"
    if (found := _remembered(place, shelf.store)) is not None:
        return found
    with _alone(shelf.folder):
        if (found := _remembered(place, shelf.store)) is not None:
            return found
        content = _signed(make(), signing)
        program = BootProgram(shelf.store.put_bytes(content), len(content), signing is not None)
        _remember(place, {**record, "program": asdict(program)})
        return program


def _remembered(place: Path, store: ArtefactStore) -> BootProgram | None:
    """What was made before, unless the note or the program is gone or damaged: then it is made again."""
    try:
        kept = json.loads(place.read_bytes())["program"]
        program = BootProgram(parse_digest(kept["digest"]), int(kept["size_bytes"]), bool(kept["signed"]))
        return program if store.path(program.digest).stat().st_size == program.size_bytes else None
    except (OSError, ValueError, KeyError, TypeError, DigestError, ArtefactAbsentError):
        return None


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Only one process, and one thread, makes programs at a time; a process that dies gives the lock back."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _signed(content: bytes, signing: SigningPair | None) -> bytes:
    if signing is None or signed_by(content, signing.certificate):
        return content
    return sign(content, signing)


def _remember(place: Path, record: dict[str, Any]) -> None:
    with tempfile.NamedTemporaryFile("w", dir=place.parent, prefix=".new-", delete=False) as new:
        json.dump(record, new, indent=2, sort_keys=True)
        new.flush()
        os.fsync(new.fileno())
    Path(new.name).chmod(0o644)
    Path(new.name).replace(place)


def _assembled(manifest: ImageManifest, command_line: Sequence[str], store: ArtefactStore, stub: bytes) -> bytes:
    words = " ".join(command_line).encode()
    try:
        if manifest.bootable is None:
            root = _content(manifest, "root", store)
            return archive_program(manifest.arch, [(".cmdline", words), (".linux", root)])
        kernel = _content(manifest, "kernel", store)
        _check_machines(manifest, stub, kernel)
        # The kernel is last: old ones unpack themselves into the memory behind them.
        sections = [
            (".osrel", _os_release(manifest)),
            (".cmdline", words),
            (".uname", manifest.bootable.kernel_abi.encode()),
            (".initrd", _content(manifest, "initrd", store)),
            (".linux", kernel),
        ]
        return assemble(stub, sections)
    except ProgramError as error:
        raise BootProgramError(f"image {manifest.name}: no boot program can be made with this stub: {error}") from error


def _content(manifest: ImageManifest, role: str, store: ArtefactStore) -> bytes:
    try:
        artefact = manifest.artefact(role)
        content = store.path(artefact.digest).read_bytes()
        if digest_of(content) != artefact.digest:
            raise ArtefactCorruptError(f"{store.path(artefact.digest)}: its bytes have changed")
    except KeyError as error:
        raise BootProgramError(f"image {manifest.name} has no {role}: build it again") from error
    except (OSError, ArtefactError) as error:
        again = f"`firstlight image build {manifest.name}` makes it again"
        raise BootProgramError(f"image {manifest.name}: its {role} cannot be read: {error}; {again}") from error
    return content


def _check_machines(manifest: ImageManifest, stub: bytes, kernel: bytes) -> None:
    if not stub:
        raise BootProgramError(f"image {manifest.name} needs a stub for {manifest.arch}: apt install systemd-boot-efi")
    for what, content in (("the stub (network_boot.stub)", stub), ("the kernel", kernel)):
        try:
            machine = machine_of(content)
        except ProgramError as error:
            raise BootProgramError(f"image {manifest.name}: {what} is no program of UEFI firmware: {error}") from error
        if machine != manifest.arch:
            raise BootProgramError(f"image {manifest.name} is for {manifest.arch}, and {what} is for {machine}")


def _os_release(manifest: ImageManifest) -> bytes:
    """os-release(5): what boot menus and `bootctl` show of it."""
    fields = {
        "ID": "firstlight",
        "NAME": "Firstlight",
        "PRETTY_NAME": f"Firstlight image {manifest.name}",
        "VERSION_ID": manifest.digest.removeprefix("sha256:")[:12],
        "IMAGE_ID": manifest.name,
        "IMAGE_VERSION": manifest.digest.removeprefix("sha256:"),
    }
    return "".join(f"{name}={shlex.quote(value)}\n" for name, value in fields.items()).encode()
