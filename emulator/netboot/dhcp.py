"""What DHCP would answer, without DHCP: the boot file for each client architecture, from the fleet file."""

from collections.abc import Mapping
from urllib.parse import quote

from emulator.netboot.boot_error import BootError
from emulator.netboot.identity import Identity

IPXE = "ipxe"
_HTTP = "{boot_service}/boot/uefi/{arch}.efi"
_DEFAULT = {
    IPXE: "{boot_service}/boot/ipxe?uuid={uuid}&serial={serial}&mac={mac}&arch={arch}",
    "0x0010": _HTTP,
    "0x0013": _HTTP,
}


def check_boot_files(boot_files: Mapping[str, str]) -> None:
    """Raise ValueError for a key that no client sends or a placeholder that nothing fills."""
    for key, address in boot_files.items():
        if key != IPXE and not _is_architecture(key):
            raise ValueError(f"{key}: a boot file is for '{IPXE}' or for an architecture such as 0x0007 or 0x0010")
        try:
            address.format(boot_service="", **_words(Identity("", "", "", "", "x86_64", "efi", "", "")))
        except (LookupError, AttributeError, ValueError) as error:
            raise ValueError(f"{key}: {address}: unknown placeholder {error}") from error


class Dhcp:
    """The answers for the hosts of one fleet."""

    def __init__(self, boot_service: str, boot_files: Mapping[str, str]) -> None:
        """`boot_files`: addresses by `ipxe` (the script that iPXE is told) or by architecture (`0x0010`)."""
        self._boot_service = boot_service.rstrip("/")
        self._boot_files = {**_DEFAULT, **boot_files}

    def script(self, identity: Identity) -> str:
        """Where iPXE (user class `iPXE`) finds its script."""
        return self._fill(IPXE, identity)

    def program(self, architecture: int, identity: Identity) -> str | None:
        """Where firmware of this architecture finds its boot program; None where DHCP names none, or an empty one."""
        key = f"0x{architecture:04x}"
        return self._fill(key, identity) if self._boot_files.get(key) else None

    def _fill(self, key: str, identity: Identity) -> str:
        try:
            return self._boot_files[key].format(boot_service=self._boot_service, **_words(identity))
        except (LookupError, AttributeError, ValueError) as error:
            raise BootError(f"the boot file for {key} cannot be filled in: {error}") from error


def _words(identity: Identity) -> dict[str, str]:
    words = {"uuid": identity.uuid, "serial": identity.serial, "mac": identity.mac, "arch": identity.arch}
    return {name: quote(value, safe="") for name, value in words.items()}


def _is_architecture(key: str) -> bool:
    return len(key) == 6 and key.startswith("0x") and all(mark in "0123456789abcdef" for mark in key[2:])
