"""The programs that firmware loads one after another, over real HTTP."""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from emulator.netboot.boot_error import BootError
from emulator.netboot.fetch import HeadRule
from emulator.netboot.identity import Identity
from tests.emulator.boot_server import BootServer, Reply, digest_of
from tests.emulator.efi import ARM64, build_efi, build_iso, make_key, sign_efi
from tests.emulator.firmware_host import firmware, identity

ROOT = b"the root"
UEFI = "UefiHttpBoot/1.0"
SITE = make_key("site")


@pytest.fixture
def server() -> Iterator[BootServer]:
    with BootServer() as running:
        yield running


async def boot_http(server: BootServer, path: str = "/boot/key", **options: object) -> tuple[str, ...]:
    """The digests of what is booted from `path`."""
    async with firmware(server, **options) as host:  # type: ignore[arg-type]
        boot = await host.boot_http(f"{server.url}{path}")
    return tuple(file.digest for file in boot.images) if boot else ()


async def test_firmware_sends_head_before_get(server: BootServer) -> None:
    """tianocore/edk2, HttpBootLoadFile: the size first."""
    server.offer_program("/boot/key", ROOT)
    assert await boot_http(server) == (digest_of(ROOT),)
    assert server.heads == [("/boot/key", UEFI)]
    assert server.requests[0] == ("/boot/key", UEFI)
    assert re.fullmatch(r"iPXE/1\.21\.1\+ \(g[0-9a-f]+\)", server.requests[1][1])


async def test_server_that_refuses_head_is_asked_by_get(server: BootServer) -> None:
    """tianocore/edk2, HttpBootLoadFile: may be chunked, try GET."""
    server.offer_program("/boot/key", ROOT)
    server.replies["/boot/key"] = Reply(405, methods=("HEAD",))
    assert await boot_http(server) == (digest_of(ROOT),)


async def test_firmware_follows_no_redirection_and_ipxe_does(server: BootServer) -> None:
    """HttpBootDxe takes 200 only; ipxe.org: redirections are followed."""
    server.offer_program("/there", ROOT)
    server.replies["/boot/key"] = Reply(302, {"Location": f"{server.url}/there"})
    with pytest.raises(BootError, match=r"302.*does not follow"):
        await boot_http(server)
    server.replies["/boot/ipxe"] = Reply(302, {"Location": f"{server.url}/there"})
    async with firmware(server) as host:
        assert await host.boot_pxe()


async def test_retry_after_of_the_service_reaches_the_firmware(server: BootServer) -> None:
    """RFC 9110, 10.2.3."""
    server.replies["/boot/key"] = Reply(503, {"Retry-After": "7"})
    with pytest.raises(BootError) as caught:
        await boot_http(server)
    assert caught.value.retry_after == 7


@pytest.mark.parametrize(("rule", "heads"), [("needs", 1), ("skips", 0)])
async def test_head_that_is_refused_stops_firmware_that_needs_it(
    server: BootServer, rule: HeadRule, heads: int
) -> None:
    """tianocore/edk2#9920; a server that tells the size serves both."""
    server.offer_program("/boot/key", ROOT)
    async with firmware(server) as host:
        host = replace(host, head=rule)  # noqa: PLW2901
        assert await host.boot_http(f"{server.url}/boot/key")
        assert len(server.heads) == heads
        server.replies["/boot/key"] = Reply(405, methods=("HEAD",))
        if rule == "needs":
            with pytest.raises(BootError, match="HEAD answered 405"):
                await host.boot_http(f"{server.url}/boot/key")
        else:
            assert await host.boot_http(f"{server.url}/boot/key")


async def test_messages_show_no_boot_key(server: BootServer) -> None:
    """The end of the path is a secret, and so is the query."""
    for url in (
        f"{server.url}/boot/0123456789abcdefghij?token=hush",
        "http://127.0.0.1:1/boot/0123456789abcdefghij",
        f"{server.url}/boot/0123456789abcdefghij/image.efi",
    ):
        async with firmware(server) as host:
            with pytest.raises(BootError) as caught:
                await host.boot_http(url)
        assert "/boot/012345..." in str(caught.value)
        assert "abcdefghij" not in str(caught.value)
        assert "hush" not in str(caught.value)


async def test_firmware_starts_no_script(server: BootServer) -> None:
    """HttpBootCheckImageType: by Content-Type, then by extension; anything else is unsupported."""
    server.offer("/boot/key", ROOT)
    with pytest.raises(BootError, match="needs application/efi"):
        await boot_http(server)
    server.offer_program("/boot/key", ROOT)
    assert await boot_http(server) == (digest_of(ROOT),)
    server.files["/boot/ipxe.efi"] = server.files["/boot/key"]
    assert await boot_http(server, "/boot/ipxe.efi") == (digest_of(ROOT),)


async def test_ipxe_binary_asks_the_boot_service_who_it_is(server: BootServer) -> None:
    """A first stage from the web, then the script that DHCP names for iPXE."""
    server.files["/ipxe.efi"] = build_efi(trailer=b"iPXE initialising devices")
    server.offer("/boot/ipxe", ROOT)
    assert await boot_http(server, "/ipxe.efi") == (digest_of(ROOT),)
    asked = server.requests[1][0]
    assert "mac=3C%3AEC%3AEF%3A00%3A0A%3A0B" in asked  # as it was written
    assert "arch=x86_64" in asked


async def test_ipxe_binary_runs_the_script_inside_it(server: BootServer) -> None:
    """https://ipxe.org/embed."""
    server.files["/ipxe.efi"] = build_efi(trailer=b"iPXE\0" + server.script(ROOT) + b"\0more")
    assert await boot_http(server, "/ipxe.efi") == (digest_of(ROOT),)


async def test_unified_kernel_image_brings_its_own_command_line(server: BootServer) -> None:
    """UAPI.5: .cmdline, .linux, .initrd."""
    sections = {".cmdline": server.words(ROOT).encode(), ".linux": b"kernel", ".initrd": ROOT}
    server.files["/uki.efi"] = build_efi(sections=sections)
    async with firmware(server) as host:
        boot = await host.boot_http(f"{server.url}/uki.efi")
    assert boot is not None
    assert [file.digest for file in boot.images] == [digest_of(ROOT), digest_of(b"kernel")]
    assert f"firstlight.root={digest_of(ROOT)}" in boot.words


@pytest.mark.parametrize(
    ("content", "options", "reason"),
    [
        (build_efi(ARM64), {}, "is for arm64, this host is x86_64"),
        (build_efi(), {"trusted": (SITE.pem,)}, "not signed, and Secure Boot is on: Access Denied"),
        (sign_efi(build_efi(), SITE), {"trusted": ()}, "signed by CN=site, which is not in db"),
        (sign_efi(build_efi(), make_key("site")), {"trusted": (SITE.pem,)}, "signed by CN=site, which is not in db"),
        (sign_efi(build_efi(), SITE), {"trusted": (SITE.pem,)}, "cannot run"),
        (sign_efi(build_efi(), make_key("child", SITE)), {"trusted": (SITE.pem,)}, "cannot run"),
        (
            sign_efi(build_efi(trailer=b"some text"), SITE).replace(b"some text", b"none text"),
            {"trusted": (SITE.pem,)},
            "was changed after it was signed",
        ),
        (sign_efi(build_efi(), SITE)[:-40], {"trusted": (SITE.pem,)}, "a signature that cannot be read"),
        (b"MZ", {}, "broken EFI binary"),
        (b"MZ" + b"\xff" * 62, {}, "broken EFI binary"),
        (b"#!ipxe\nexit\n", {}, "is said to be an EFI binary and is none"),
        (b"hello", {}, "is said to be an EFI binary and is none"),
    ],
)
async def test_efi_binary_that_does_not_fit_is_refused(
    server: BootServer, content: bytes, options: dict[str, Sequence[str]], reason: str
) -> None:
    """Unsupported, Access Denied, Load Error."""
    server.files["/x.efi"] = content
    with pytest.raises(BootError, match=reason):
        await boot_http(server, "/x.efi", **options)


async def test_programs_that_start_each_other_for_ever_end(server: BootServer) -> None:
    """iPXE that chains iPXE is a loop that people do build."""
    server.files["/boot/ipxe"] = b"#!ipxe\nchain /ipxe.efi"
    server.files["/ipxe.efi"] = build_efi(trailer=b"iPXE")
    with pytest.raises(BootError, match="started each other"):
        await boot_http(server, "/ipxe.efi")


@pytest.mark.parametrize(
    ("host", "architecture"),
    [
        (identity(), "0x0007"),
        (identity("arm64"), "0x000b"),
        (identity(platform="pcbios"), "0x0000"),
    ],
)
async def test_pxe_asks_for_the_program_of_its_architecture(
    server: BootServer, host: Identity, architecture: str
) -> None:
    """IANA, Processor Architecture Types."""
    server.offer("/this", ROOT)
    boot_files = {architecture: "{boot_service}/this", "0x0010": "{boot_service}/other"}
    async with firmware(server, host=host, boot_files=boot_files) as running:
        assert await running.boot_pxe()


async def test_http_boot_without_a_uri_asks_dhcp(server: BootServer) -> None:
    """UEFI 2.10, 24.7.3: architecture 0x0010 or 0x0013 with the vendor class HTTPClient."""
    script = b"iPXE\0" + server.script(ROOT) + b"\0"
    server.files["/this.efi"] = build_efi(ARM64, trailer=script)
    async with firmware(server, host=identity("arm64"), boot_files={"0x0013": "{boot_service}/this.efi"}) as host:
        assert await host.boot_http(None)
    async with firmware(server, boot_files={"0x0010": ""}) as host:
        with pytest.raises(BootError, match=r"no HttpBootUri.*0x0010"):
            await host.boot_http(None)
    server.files["/boot/uefi/x86_64.efi"] = build_efi(trailer=script)
    async with firmware(server) as host:
        assert await host.boot_http(None)


@pytest.mark.parametrize("content", [b"hello", b"", build_iso(b"nothing"), bytes(40000)])
async def test_media_without_an_operating_system_say_so(server: BootServer, content: bytes) -> None:
    """Reboot and select proper boot device."""
    server.files["/image.iso"] = content
    async with firmware(server) as host:
        with pytest.raises(BootError, match="no operating system"):
            await host.boot_media(f"{server.url}/image.iso")


async def test_iso_with_a_script_inside_boots_it(server: BootServer) -> None:
    """An ISO made with iPXE and an embedded script."""
    server.files["/image.iso"] = build_iso(server.script(ROOT))
    async with firmware(server) as host:
        assert await host.boot_media(f"{server.url}/image.iso")


async def test_script_that_hammers_a_dead_server_is_slowed(server: BootServer) -> None:
    """A fast clock must not turn a fleet into a load test."""
    tries = "chain /gone || chain /gone || chain /gone || chain /gone || exit"
    server.files["/boot/ipxe"] = f"#!ipxe\n{tries}\n".encode()
    began = time.monotonic()
    async with firmware(server) as host:
        assert await host.boot_pxe() is None
    assert time.monotonic() - began > 0.7


async def test_large_file_is_checked_and_not_kept(server: BootServer) -> None:
    """A thousand hosts that fetch an initrd at once share the memory of one process."""
    root = bytes(17 * 2**20)
    server.offer("/boot/ipxe", root)
    async with firmware(server) as host:
        boot = await host.boot_pxe()
    assert boot is not None
    assert boot.images[0].digest == digest_of(root)
    assert not boot.images[0].complete
    assert len(boot.images[0].content) <= 2**24
