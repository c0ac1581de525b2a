"""What is missing on this machine before it can answer DHCP."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from provisioner.errors import BadInput
from provisioner.network_boot.interfaces import dhcp_servers, interfaces
from provisioner.network_boot.settings import DhcpMode, NetworkBoot

PROGRAMS = {"dnsmasq": "dnsmasq-base", "setpriv": "util-linux", "ip": "iproute2", "ss": "iproute2"}
"""What is run, and the Debian package that has it."""

_PACKAGES = {
    Path("/usr/lib/ipxe"): "ipxe",
    Path("/usr/lib/systemd/boot/efi"): "systemd-boot-efi",
}


@dataclass(frozen=True, slots=True)
class Lack:
    """One thing that is not as it has to be, and what to do."""

    what: str
    remedy: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.what}; {self.remedy}"


def lacks(boot: NetworkBoot, url: str) -> tuple[Lack, ...]:
    """Everything at once; nothing in external mode, where this machine answers no DHCP. `url`: what nodes are told."""
    if boot.dhcp is DhcpMode.EXTERNAL:
        return ()
    missing = tuple(_missing_programs())
    return (*missing, *_missing_files(boot), *_own_address(url), *(() if missing else _network(boot)))


def occupied(boot: NetworkBoot) -> tuple[Lack, ...]:
    """Who answers DHCP on our interfaces already."""
    if boot.dhcp is DhcpMode.EXTERNAL:
        return ()
    return tuple(
        Lack(
            f"network_boot.interfaces: {server.process} answers DHCP on {server.interface or 'all interfaces'} already",
            "end it, or set network_boot.dhcp to external and give it what firstlight boot options prints",
        )
        for server in dhcp_servers()
        if not server.interface or server.interface in boot.interfaces
    )


def refuse_lacks(found: tuple[Lack, ...]) -> None:
    """Raises `BadInput` with all of them."""
    if found:
        raise BadInput("\n".join(str(one) for one in found))


def _missing_programs() -> Iterator[Lack]:
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None and shutil.which(program, path="/usr/sbin:/sbin") is None:
            yield Lack(f"network_boot.dhcp: {program} is not installed", f"install the Debian package {package}")


def _missing_files(boot: NetworkBoot) -> Iterator[Lack]:
    for arch, path in boot.ipxe.items():
        if not path.is_file():
            package = next((name for folder, name in _PACKAGES.items() if path.is_relative_to(folder)), None)
            hint = f"install the Debian package {package}, or name" if package else "name"
            yield Lack(f"network_boot.ipxe.{arch}: {path} is not there", f"{hint} a file that is")


def _own_address(url: str) -> Iterator[Lack]:
    host = urlsplit(url).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        return
    if address.is_loopback or address.is_unspecified:
        what = f"public_url: nodes would be sent to {url}, which is themselves"
        yield Lack(what, "write the address of this machine on the boot network, such as http://10.0.0.5:8410")


def _network(boot: NetworkBoot) -> Iterator[Lack]:
    here = interfaces()
    for number, name in enumerate(boot.interfaces):
        where = f"network_boot.interfaces[{number}]: {name}"
        networks = here.get(name)
        if networks is None:
            yield Lack(f"{where} is no interface here", f"name some of {', '.join(sorted(set(here) - {'lo'}))}")
        elif not networks:
            yield Lack(f"{where} has no IPv4 address", "give it one in the boot network")
    known = {network for name in boot.interfaces for network in here.get(name, ())}
    local = any(one.network.overlaps(network) for one in boot.ranges for network in known)
    if known and not local and boot.dhcp is DhcpMode.FULL:
        theirs = ", ".join(sorted(map(str, known)))
        what = f"network_boot.ranges: none lies in a network of the interfaces ({theirs})"
        yield Lack(what, "correct one of them; ranges for relays may come in addition")
