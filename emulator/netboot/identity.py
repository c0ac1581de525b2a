"""Who a host says it is while it boots, and what it is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Identity:
    """`arch` as iPXE says it: x86_64 or arm64; `platform`: efi or pcbios."""

    uuid: str
    serial: str
    mac: str
    ip: str
    arch: str
    platform: str
    manufacturer: str
    product: str

    @property
    def pxe_architecture(self) -> int:
        """DHCP option 93 of PXE (IANA, "Processor Architecture Types")."""
        if self.platform == "pcbios":
            return 0x0000
        return 0x0007 if self.arch == "x86_64" else 0x000B

    @property
    def http_architecture(self) -> int:
        """DHCP option 93 of UEFI HTTP boot."""
        return 0x0010 if self.arch == "x86_64" else 0x0013
