"""What a DHCP server that others run has to say to nodes."""

from enum import StrEnum
from urllib.parse import urlsplit

from provisioner.network_boot.architectures import HTTP, PXE, SCRIPT
from provisioner.network_boot.settings import NetworkBoot
from provisioner.network_boot.templating import plain_url, render


class DhcpServerKind(StrEnum):
    """The servers whose language we write."""

    KEA = "kea"
    DHCPD = "dhcpd"
    DNSMASQ = "dnsmasq"


_TEMPLATE = {
    DhcpServerKind.KEA: "kea.json.j2",
    DhcpServerKind.DHCPD: "dhcpd.conf.j2",
    DhcpServerKind.DNSMASQ: "dnsmasq-options.conf.j2",
}


def render_options(boot: NetworkBoot, kind: DhcpServerKind, url: str, tftp: str | None = None) -> str:
    """The text. `tftp`: the address of the TFTP server that has the programs; the host of `url` where None.

    Raises `BadInput` for a URL that cannot be written.
    """
    server = tftp or urlsplit(plain_url(url)).hostname or ""
    here = [(one, boot.ipxe_bios if one.arch is None else boot.ipxe.get(one.arch)) for one in PXE]
    offered = [(one, path) for one, path in here if path is not None]
    files = ", ".join(f"{path} as {one.program}" for one, path in offered)
    return render(
        _TEMPLATE[kind],
        note=f"By TFTP from {server}: {files}.",
        url=url,
        tftp=server,
        script=SCRIPT,
        http=HTTP,
        pxe=[one for one, _ in offered],
    )
