"""The configuration of dnsmasq, which gives out addresses (full) or boot options beside another server (proxy).

Proxy mode: PXE firmware asks our port 4011 and gets iPXE, iPXE gets its script, and UEFI that boots by HTTP gets its
URL in the first answer. What it cannot do: leases are the other server's, so that nobody knows who has which address
(/boot/uefi/ knows no node by it: set HttpBootUri, or boot by PXE), and no BMC is found by its lease.
"""

import grp
import os
import pwd
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from provisioner.errors import BadInput
from provisioner.network_boot.architectures import HTTP, PXE, SCRIPT
from provisioner.network_boot.settings import DhcpMode, DhcpRange, NetworkBoot
from provisioner.network_boot.templating import plain_path, plain_url, render

_LONGEST_FILE = 127
"""The field `file` of a DHCP answer holds 128 bytes (RFC 2131, 2); proxies have no other place."""


@dataclass(frozen=True, slots=True)
class Place:
    """What a DHCP server of ours belongs to. `folder`: its own one; `url`: where nodes reach us."""

    site: str
    url: str
    folder: Path


def render_dnsmasq(
    boot: NetworkBoot, place: Place, *, networks: Sequence[IPv4Network] = (), programs: Collection[str] | None = None
) -> str:
    """The file. `networks`: of the interfaces, for proxy mode; `programs`: the names in the TFTP root, None for all.

    Raises `BadInput` in external mode, and for values that cannot be written.
    """
    if boot.dhcp is DhcpMode.EXTERNAL:
        raise BadInput("network_boot.dhcp is external: others answer DHCP; firstlight boot options prints what to say")
    url = plain_url(place.url)
    if len(longest := url + SCRIPT) > _LONGEST_FILE:
        raise BadInput(f"public_url is {len(longest) - _LONGEST_FILE} characters too long for DHCP: {url}")
    return render(
        "dnsmasq.conf.j2",
        site=place.site,
        mode=boot.dhcp.value,
        interfaces=boot.interfaces,
        user=pwd.getpwuid(os.geteuid()).pw_name,
        group=grp.getgrgid(os.getegid()).gr_name,
        folder=plain_path(place.folder),
        most=sum(one.size for one in boot.ranges),
        ranges=[_range(one) for one in boot.ranges],
        networks=networks,
        url=url,
        script=SCRIPT,
        http=HTTP,
        pxe=[one for one in PXE if programs is None or one.program in programs],
    )


def _range(one: DhcpRange) -> dict[str, object]:
    return {**one.__dict__, "lease_seconds": int(one.lease.total_seconds())}
