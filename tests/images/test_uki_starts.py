"""Real firmware (OVMF) in a virtual machine starts boot programs, and refuses them under the site's own keys.

How TianoCore says no: MdeModulePkg/Universal/BdsDxe, "failed to load ...: Access Denied".
"""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from images.boot_program.build import Shelf, boot_program, loader_program
from images.boot_program.signing import SigningPair, sign
from images.manifest import Artefact, Bootable, ImageManifest
from images.store import ArtefactStore
from provisioner.commands.boot import boot_app
from tests.images.firmware import DEFAULT_PROGRAM, EMPTY_VARIABLES, Machine
from tests.images.programs import IPXE, STUB, SYSTEMD_BOOT, debian_kernel, keys, need_tools, stub
from tests.requirements import need

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("heavy")]

WORDS = ("console=ttyS0", "earlyprintk=ttyS0", "panic=-1", "firstlight.server=http://10.77.0.1:8410")
REFUSED = "failed to load Boot0001 .*: Access Denied"
STARTED = r"Linux version [\s\S]*(secureboot: Secure boot \w+)"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    folder = tmp_path / "machine"
    folder.mkdir()
    return Machine(folder)


@pytest.fixture
def site_keys(tmp_path: Path) -> Path:
    """What `firstlight boot keys` makes on a machine with OVMF."""
    need_tools("sbsign", "sbverify")
    need(EMPTY_VARIABLES.is_file(), "ovmf is not installed")
    made = CliRunner().invoke(boot_app, ["keys", str(tmp_path / "keys")])
    assert made.exit_code == 0, made.output
    return tmp_path / "keys"


def db(folder: Path) -> SigningPair:
    return SigningPair(folder / "db.key", folder / "db.pem")


def uki(folder: Path, signing: SigningPair | None) -> bytes:
    """The boot program of an image with Debian's kernel."""
    stub()  # or skipped
    store = ArtefactStore(folder / "artefacts")
    parts = {"kernel": debian_kernel(), "initrd": b"\0" * 512, "root": b"root"}
    artefacts = [Artefact(role, store.put_bytes(content), len(content)) for role, content in parts.items()]
    bootable = Bootable("6.1.0-cloud-amd64", (), "0" * 64, 4096, 256, "http", secure_boot=signing is not None)
    manifest = ImageManifest("debian-12-base", "x86_64", tuple(artefacts), bootable)
    program = boot_program(manifest, WORDS, Shelf(store, folder / "boot-programs"), stub=STUB, signing=signing)
    return store.verify(program.digest).read_bytes()


def test_firmware_starts_the_kernel_with_the_words(machine: Machine, tmp_path: Path) -> None:
    console = machine.started({DEFAULT_PROGRAM: uki(tmp_path, None)}, EMPTY_VARIABLES, until=STARTED)
    assert "secureboot: Secure boot disabled" in console
    assert f"Command line: {' '.join(WORDS)}" in console


@pytest.mark.parametrize("signer", ["nobody", "another site"])
def test_firmware_with_the_sites_keys_refuses(signer: str, machine: Machine, site_keys: Path, tmp_path: Path) -> None:
    program = uki(tmp_path, None if signer == "nobody" else keys(tmp_path / "other"))
    console = machine.started({DEFAULT_PROGRAM: program}, site_keys / "OVMF_VARS.fd", until=f"{REFUSED}|Linux version")
    assert "Access Denied" in console
    assert "Linux version" not in console


def test_firmware_with_the_sites_keys_starts_what_they_signed(
    machine: Machine, site_keys: Path, tmp_path: Path
) -> None:
    program = uki(tmp_path, db(site_keys))
    console = machine.started({DEFAULT_PROGRAM: program}, site_keys / "OVMF_VARS.fd", until=STARTED)
    assert "secureboot: Secure boot enabled" in console
    assert f"Command line: {' '.join(WORDS)}" in console


@pytest.mark.parametrize("signed", [False, True])
def test_debians_ipxe_starts_under_the_sites_keys_only_when_signed(
    signed: bool, machine: Machine, site_keys: Path, tmp_path: Path
) -> None:
    need(IPXE.is_file(), "ipxe is not installed")
    shelf = Shelf(ArtefactStore(tmp_path / "artefacts"), tmp_path / "boot-programs")
    program = loader_program(IPXE, shelf, signing=db(site_keys) if signed else None)
    content = shelf.store.path(program.digest).read_bytes()
    until = f"{REFUSED}|iPXE initialising"
    console = machine.started({DEFAULT_PROGRAM: content}, site_keys / "OVMF_VARS.fd", until=until)
    assert ("iPXE initialising" in console) == signed


def test_firmware_in_setup_mode_takes_the_signed_updates(machine: Machine, site_keys: Path, tmp_path: Path) -> None:
    """systemd-boot (loader.conf(5), secure-boot-enroll) gives the .auth files to SetVariable and restarts.

    From then on Secure Boot is on with these keys, and starts systemd-boot and the kernel as they signed them.
    """
    need(SYSTEMD_BOOT.is_file(), "systemd-boot-efi is not installed")
    pair = db(site_keys)
    files = {f"loader/keys/auto/{name}.auth": (site_keys / f"{name}.auth").read_bytes() for name in ("PK", "KEK", "db")}
    files |= {
        DEFAULT_PROGRAM: sign(SYSTEMD_BOOT.read_bytes(), pair),
        "loader/loader.conf": b"timeout 1\nsecure-boot-enroll force\n",
        "EFI/Linux/firstlight.efi": uki(tmp_path, pair),
    }
    console = machine.started(files, EMPTY_VARIABLES, until=STARTED)
    assert "Enrolling secure boot keys" in console
    assert "secureboot: Secure boot enabled" in console
