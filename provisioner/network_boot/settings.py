"""`network_boot` in site.yaml: how nodes get from their firmware to a kernel."""

from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from ipaddress import AddressValueError, IPv4Address, IPv4Network, NetmaskValueError, ip_interface
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from profiles.fields import Duration, Profile
from profiles.models import Arch
from profiles.problems import Problem, refuse, refuse_if_any

_SHORTEST_LEASE = timedelta(minutes=2)
"""dnsmasq gives no shorter ones."""

_SERVER = r"^https?://[A-Za-z0-9._~%:\[\]/-]+$"


def _subnet(value: Any) -> IPv4Network:
    """An IPv4 network; UEFI and iPXE are offered nothing by DHCPv6 here."""
    try:
        return IPv4Network(value)
    except (AddressValueError, NetmaskValueError, TypeError) as error:
        raise refuse(f"{value!r} is no IPv4 network", "write it such as 10.0.1.0/24") from error
    except ValueError as error:
        whole = ip_interface(value).network
        raise refuse(f"{value} has host bits set", f"write {whole}") from error


def _long_enough(lease: timedelta) -> timedelta:
    if lease < _SHORTEST_LEASE:
        raise refuse("is shorter than two minutes", "1h is usual")
    return lease


Subnet = Annotated[IPv4Network, BeforeValidator(_subnet)]
Lease = Annotated[Duration, AfterValidator(_long_enough)]
Interface = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$")]
Server = Annotated[str, StringConstraints(pattern=_SERVER, max_length=200)]


class DhcpMode(StrEnum):
    """Who gives out addresses on the boot network."""

    FULL = "full"
    PROXY = "proxy"
    EXTERNAL = "external"


class DhcpRange(Profile):
    """Addresses that we give out, in full mode. Without a router, nodes are told none."""

    network: Subnet
    first: IPv4Address
    last: IPv4Address
    router: IPv4Address | None = None
    lease: Lease = Field(default="1h", validate_default=True)

    @property
    def size(self) -> int:
        """How many addresses."""
        return int(self.last) - int(self.first) + 1

    @model_validator(mode="after")
    def _lies_in_its_network(self) -> "DhcpRange":
        refuse_if_any(self._problems())
        return self

    def _problems(self) -> Iterator[Problem]:
        ends = {self.network.network_address, self.network.broadcast_address}
        for name in ("first", "last", "router"):
            address = getattr(self, name)
            if address is None:
                continue
            if address not in self.network:
                yield Problem((name,), f"{address} is not in {self.network}", "correct one of them")
            elif address in ends and self.network.prefixlen < 31:
                yield Problem((name,), f"{address} is no host's address in {self.network}", "take one between")
        if self.last < self.first:
            yield Problem(("last",), f"{self.last} is before {self.first}", "exchange them")
        elif self.router is not None and self.first <= self.router <= self.last:
            yield Problem(("router",), f"{self.router} would be given to a node too", "leave it out of first to last")


class SigningKey(Profile):
    """Key and certificate (PEM) for boot programs or kernel modules; `firstlight boot keys` makes them."""

    key: Path
    certificate: Path

    def below(self, folder: Path) -> "SigningKey":
        """The same, with relative paths taken from `folder`."""
        return SigningKey(key=folder / self.key, certificate=folder / self.certificate)


class NetworkBoot(Profile):
    """How nodes get from their firmware to a kernel.

    `dhcp: full` answers every DHCP request on `interfaces`, `proxy` adds boot options to another server's answers,
    `external` leaves it to others (`firstlight boot options` prints what they have to say). `ipxe`: the iPXE program
    for firmware that boots by PXE; `ipxe_bios` for firmware without UEFI, left out where the file is not there.
    `mirrors`: servers that hold our files by digest, nearer to the nodes; the service itself is the last one that a
    node asks.
    """

    dhcp: DhcpMode = DhcpMode.EXTERNAL
    interfaces: tuple[Interface, ...] = ()
    ranges: tuple[DhcpRange, ...] = ()
    ipxe: dict[Arch, Path] = Field(default_factory=lambda: {Arch.X86_64: Path("/usr/lib/ipxe/ipxe.efi")})
    ipxe_bios: Path = Path("/usr/lib/ipxe/undionly.kpxe")
    stub: dict[Arch, Path] = Field(
        default_factory=lambda: {
            Arch.X86_64: Path("/usr/lib/systemd/boot/efi/linuxx64.efi.stub"),
            Arch.ARM64: Path("/usr/lib/systemd/boot/efi/linuxaa64.efi.stub"),
        }
    )
    sign: SigningKey | None = None
    mirrors: tuple[Server, ...] = ()

    @model_validator(mode="after")
    def _can_be_served(self) -> "NetworkBoot":
        refuse_if_any(self._problems())
        return self

    def below(self, folder: Path) -> "NetworkBoot":
        """The same, with relative paths taken from `folder`."""
        changes = {
            "ipxe": {arch: folder / path for arch, path in self.ipxe.items()},
            "ipxe_bios": folder / self.ipxe_bios,
            "stub": {arch: folder / path for arch, path in self.stub.items()},
            "sign": self.sign and self.sign.below(folder),
        }
        return self.model_copy(update=changes)

    def _problems(self) -> Iterator[Problem]:
        if self.dhcp is not DhcpMode.EXTERNAL and not self.interfaces:
            yield Problem(("interfaces",), "is missing: DHCP answers on named interfaces only", "name them: [eno1]")
        if (self.dhcp is DhcpMode.FULL) != bool(self.ranges):
            yield Problem(("ranges",), "and dhcp: full belong together", "write both, or neither")
        for (_, one), (number, other) in combinations(enumerate(self.ranges), 2):
            if one.first <= other.last and other.first <= one.last:
                both = f"{other.first} to {other.last} overlaps {one.first} to {one.last}"
                yield Problem(("ranges", number), both, "give every address once")
