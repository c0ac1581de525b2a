"""Programs of UEFI firmware that tests assemble, sign and look at."""

import functools
import io
import shutil
import subprocess
import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from images.boot_program.pe import archive_program
from images.boot_program.secure_boot_keys import make_keys, write_keys
from images.boot_program.signing import SigningPair
from tests.requirements import need

STUB = Path("/usr/lib/systemd/boot/efi/linuxx64.efi.stub")
SYSTEMD_BOOT = Path("/usr/lib/systemd/boot/efi/systemd-bootx64.efi")
IPXE = Path("/usr/lib/ipxe/ipxe.efi")
MADE_AT = datetime(2026, 11, 1, 12, 30, 15, tzinfo=UTC)
_KERNEL = "linux-image-cloud-amd64"
_SIZE_OF_IMAGE_AT = 64 + 24 + 56


def stub() -> bytes:
    """systemd's stub of the Debian release that we run on."""
    need(STUB.is_file(), "systemd-boot-efi is not installed")
    return STUB.read_bytes()


def need_tools(*names: str) -> None:
    """Skip without them."""
    for name in names:
        need(shutil.which(name), f"{name} is not installed")


def keys(folder: Path) -> SigningPair:
    """New keys of a site; those of db are returned."""
    write_keys(make_keys("Test site", MADE_AT), folder, {})
    return SigningPair(folder / "db.key", folder / "db.pem")


def small_kernel(arch: str = "x86_64", size_of_image: int = 3 * 4096) -> bytes:
    """No kernel, yet a program as a kernel is one: it asks for more room than it has bytes."""
    content = bytearray(archive_program(arch, [(".text", b"code")]))
    content[_SIZE_OF_IMAGE_AT : _SIZE_OF_IMAGE_AT + 4] = size_of_image.to_bytes(4, "little")
    return bytes(content)


@functools.cache
def debian_kernel() -> bytes:
    """Debian's kernel for virtual machines, by the machine's own apt sources."""
    need_tools("apt-get", "apt-cache", "dpkg-deb")
    with tempfile.TemporaryDirectory(prefix="firstlight-kernel-") as name:
        folder = Path(name)
        if not _download(folder, []):
            (folder / "lists" / "partial").mkdir(parents=True)
            lists = [f"--option=Dir::State::Lists={folder}/lists"]
            subprocess.run(["apt-get", *lists, "--quiet=2", "update"], check=True, timeout=120)
            _download(folder, lists)
        found = list(folder.glob("*.deb"))
        if not found:
            pytest.fail(f"the apt sources of this machine have no {_KERNEL}")
        return _vmlinuz(found[0])


def _download(folder: Path, options: list[str]) -> bool:
    """The lists of a machine may be absent, or older than its mirror."""
    asked = subprocess.run(["apt-cache", *options, "depends", _KERNEL], capture_output=True, text=True)
    names = [line.split()[-1] for line in asked.stdout.splitlines() if line.strip().startswith("Depends:")]
    command = ["apt-get", *options, "--quiet=2", "download", *names[:1]]
    return bool(names) and subprocess.run(command, cwd=folder, timeout=120).returncode == 0


def _vmlinuz(package: Path) -> bytes:
    unpacked = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
        name = next(name for name in archive.getnames() if name.startswith("./boot/vmlinuz-"))
        file = archive.extractfile(name)
        assert file is not None
        return file.read()
