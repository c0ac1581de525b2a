"""Which programs firmware starts while Secure Boot is on."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.netboot.authenticode import check_signature
from emulator.netboot.boot_error import BootError
from emulator.netboot.fetch import File
from emulator.netboot.image import read_efi
from tests.emulator.boot_server import BootServer, digest_of
from tests.emulator.efi import build_efi, make_key, sign_efi
from tests.emulator.firmware_host import firmware
from tests.requirements import need

ROOT = b"the root"
SITE = make_key("site")


@pytest.fixture
def server() -> Iterator[BootServer]:
    with BootServer() as running:
        yield running


async def test_kernel_is_started_under_secure_boot_only_with_a_signature(server: BootServer) -> None:
    """UEFI 2.10, 32.4: whoever starts an image through firmware; ipxe/ipxe#1653."""
    kernel = bytearray(build_efi(trailer=bytes(0x400)))
    kernel[0x202:0x206] = b"HdrS"
    for content in (bytes(kernel), sign_efi(bytes(kernel), SITE)):
        server.files["/vmlinuz"] = content
        server.files["/boot/ipxe"] = f"#!ipxe\nkernel /vmlinuz {server.words(ROOT)}\nboot\n".encode()
        async with firmware(server, trusted=(SITE.pem,)) as host:
            if content == kernel:
                with pytest.raises(BootError, match="vmlinuz is not signed"):
                    await host.boot_pxe()
            else:
                assert await host.boot_pxe()


async def test_signature_at_the_end_of_a_large_program_is_read(server: BootServer) -> None:
    """A unified kernel image of many MiB, of which the beginning and the end are kept."""
    sections = {".cmdline": server.words(ROOT).encode(), ".initrd": bytes(20 * 2**20), ".linux": b"kernel"}
    server.files["/uki.efi"] = sign_efi(build_efi(sections=sections), SITE)
    async with firmware(server, trusted=(SITE.pem,)) as host:
        boot = await host.boot_http(f"{server.url}/uki.efi")
    assert boot is not None
    assert sum(len(file.content) for file in boot.images) < 5 * 2**20
    async with firmware(server, trusted=(make_key("other").pem,)) as host:
        with pytest.raises(BootError, match="CN=site, which is not in db"):
            await host.boot_http(f"{server.url}/uki.efi")


@pytest.mark.parametrize(
    ("change", "reason"), [(b"", ""), (b"systemc", "was changed after it was signed")], ids=["as signed", "changed"]
)
def test_signature_of_sbsign_is_understood(tmp_path: Path, change: bytes, reason: str) -> None:
    """The tool that signs boot programs, on the stub that they begin with."""
    stub = Path("/usr/lib/systemd/boot/efi/linuxx64.efi.stub")
    need(shutil.which("sbsign") and stub.exists(), "sbsigntool and systemd-boot-efi are not installed")
    key, certificate, signed = tmp_path / "key.pem", tmp_path / "certificate.pem", tmp_path / "signed.efi"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=site", "-days", "1"]
    subprocess.run([*make, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    sign = ["sbsign", "--key", str(key), "--cert", str(certificate), "--output", str(signed), str(stub)]
    subprocess.run(sign, check=True, capture_output=True)
    content = signed.read_bytes().replace(b"systemd", change or b"systemd")
    file = File("http://h/a.efi", "", digest_of(content), content, size_bytes=len(content))
    trusted = (certificate.read_text(),)
    if reason:
        with pytest.raises(BootError, match=reason):
            check_signature(file, read_efi(file), trusted)
    else:
        check_signature(file, read_efi(file), trusted)
        with pytest.raises(BootError, match="not in db"):
            check_signature(file, read_efi(file), (SITE.pem,))
