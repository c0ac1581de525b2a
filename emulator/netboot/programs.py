"""From the first program that firmware loads to a kernel: scripts, iPXE, unified kernel images, ISOs."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from emulator.netboot.authenticode import check_signature
from emulator.netboot.boot_error import BootError
from emulator.netboot.dhcp import Dhcp
from emulator.netboot.fetch import Fetcher, File, HeadRule, shown
from emulator.netboot.identity import Identity
from emulator.netboot.image import Kind, declared_type, embedded_script, kind_of, read_efi
from emulator.netboot.ipxe import Boot, Ipxe
from emulator.netboot.ipxe_commands import COMMANDS
from emulator.netboot.ipxe_settings import Settings

_MOST_PROGRAMS = 8


@dataclass(frozen=True, slots=True)
class Firmware:
    """One host as it boots.

    `trusted`: while Secure Boot is on, the certificates of db as PEM; None: it is off.
    """

    identity: Identity
    dhcp: Dhcp
    fetcher: Fetcher
    sleep: Callable[[float], Awaitable[None]]
    trusted: Sequence[str] | None
    head: HeadRule = "asks"

    async def boot_http(self, url: str | None) -> Boot | None:
        """UEFI HTTP boot of `url`, or of what DHCP says. None: it left network boot. Raises BootError."""
        if self.identity.platform != "efi":
            raise BootError("there is no UEFI HTTP boot: the boot mode is not UEFI")
        wanted = url or self.dhcp.program(self.identity.http_architecture, self.identity)
        if not wanted:
            raise BootError(
                f"there is no HttpBootUri, and no boot file for architecture 0x{self.identity.http_architecture:04x}"
            )
        file = await self.fetcher.as_firmware(wanted, self.head)
        self._check_type(file)
        return await self._run(file)

    async def boot_pxe(self) -> Boot | None:
        """PXE: the boot program that DHCP names, or the iPXE of the adapter with the script that DHCP names."""
        program = self.dhcp.program(self.identity.pxe_architecture, self.identity)
        if program:
            return await self._run(await self.fetcher.as_firmware(program))
        return await self._run(await self._ipxe_script())

    async def boot_media(self, url: str) -> Boot | None:
        """Boot an image in virtual media, which the BMC fetches."""
        return await self._run(await self.fetcher.as_bmc(url))

    async def _run(self, file: File) -> Boot | None:
        for _ in range(_MOST_PROGRAMS):
            kind = kind_of(file.content)
            if kind is Kind.SCRIPT:
                outcome = await self._ipxe(file)
                if not isinstance(outcome, File):
                    self._check_kernel(outcome)
                    return outcome
                file = outcome
            elif kind is Kind.EFI:
                following = await self._start_efi(file)
                if isinstance(following, Boot):
                    return following
                file = following
            elif kind is Kind.ISO:
                file = _embedded(file, "an ISO without a boot script")
            else:
                raise BootError(f"{shown(file.url)}: no operating system: neither a script, an EFI binary nor an ISO")
        raise BootError(f"more than {_MOST_PROGRAMS} boot programs started each other")

    async def _ipxe(self, file: File) -> Boot | File | None:
        ipxe = Ipxe(self.fetcher.as_ipxe, self.sleep, Settings(self.identity), dict(COMMANDS))
        return await ipxe.run(file)

    async def _start_efi(self, file: File) -> Boot | File:
        binary = read_efi(file)
        if binary.arch != self.identity.arch:
            raise BootError(f"{shown(file.url)} is for {binary.arch}, this host is {self.identity.arch}: Unsupported")
        if self.trusted is not None:
            check_signature(file, binary, self.trusted)
        if binary.command_line is not None:
            parts = (binary.sections.get(".initrd", b""), binary.sections.get(".linux", b""))
            return Boot(tuple(_part(file, part) for part in parts if part), tuple(binary.command_line.split()))
        if b"iPXE" in file.content:
            script = embedded_script(file.content)
            return _script(file, script) if script else await self._ipxe_script()
        raise BootError(f"{shown(file.url)} is an EFI binary that the emulator cannot run: neither iPXE nor a kernel")

    async def _ipxe_script(self) -> File:
        file = await self.fetcher.as_ipxe(self.dhcp.script(self.identity))
        if kind_of(file.content) is Kind.OTHER:
            raise BootError(f"{shown(file.url)}: the boot service did not answer with a script")
        return file

    def _check_kernel(self, boot: Boot | None) -> None:
        """A kernel is an EFI binary like any other for firmware that starts it."""
        kernel = boot.images[0] if boot and boot.images else None
        if self.trusted is not None and kernel and kernel.content.startswith(b"MZ"):
            check_signature(kernel, read_efi(kernel), self.trusted)

    def _check_type(self, file: File) -> None:
        """EFI binaries and disk images only, as they are declared (tianocore/edk2, HttpBootCheckImageType)."""
        declared, kind = declared_type(file), kind_of(file.content)
        if declared is None:
            raise BootError(
                f"{shown(file.url)}: UEFI needs application/efi, or an address that ends in .efi, .iso or .img"
            )
        if declared == "efi" and kind not in (Kind.EFI, Kind.LINUX):
            raise BootError(f"{shown(file.url)} is said to be an EFI binary and is none: Load Error")


def _embedded(file: File, what: str) -> File:
    script = embedded_script(file.content)
    if script is None:
        raise BootError(f"{shown(file.url)}: no operating system: {what} that the emulator could run")
    return _script(file, script)


def _script(file: File, script: bytes) -> File:
    return File(file.url, file.content_type, file.digest, script, size_bytes=len(script))


def _part(file: File, content: bytes) -> File:
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return File(file.url, "", digest, content, size_bytes=len(content))
