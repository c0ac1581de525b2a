"""What kinds of firmware ask for an address, and what each is offered.

Numbers: IANA, "Processor Architecture Types" (RFC 5970, 3.3; DHCP option 93 of RFC 4578). Firmware that boots by HTTP
says so in its vendor class and expects the same word back (UEFI 2.10, 24.7.3.1).
"""

from dataclasses import dataclass

from profiles.models import Arch


@dataclass(frozen=True, slots=True)
class PxeFirmware:
    """Firmware that loads a program by TFTP. `services`: how dnsmasq names the same numbers in proxy mode."""

    tag: str
    numbers: tuple[int, ...]
    services: tuple[str, ...]
    program: str
    """The name of iPXE for it, in the TFTP root."""
    arch: Arch | None
    """None: a BIOS."""


@dataclass(frozen=True, slots=True)
class HttpFirmware:
    """UEFI that loads a program by HTTP. `path`: below the public URL."""

    tag: str
    number: int
    path: str


PXE = (
    PxeFirmware("pxe-x86-64", (7, 9), ("BC_EFI", "X86-64_EFI"), "ipxe.efi", Arch.X86_64),
    PxeFirmware("pxe-arm64", (11,), ("ARM64_EFI",), "ipxe-arm64.efi", Arch.ARM64),
    PxeFirmware("pxe-bios", (0,), ("X86PC",), "undionly.kpxe", None),
)
"""7 is what x86-64 firmware sends; the RFC's errata call it EFI byte code, and 9 x86-64: both mean the same here."""

HTTP = (
    HttpFirmware("http-x86-64", 16, "/boot/uefi/x86_64.efi"),
    HttpFirmware("http-arm64", 19, "/boot/uefi/arm64.efi"),
)

SCRIPT = "/boot/ipxe?uuid=${uuid}&serial=${serial}&mac=${mac}&arch=${buildarch}"
"""What iPXE asks; it fills in the names."""
