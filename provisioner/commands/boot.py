"""`firstlight boot`: how nodes get from their firmware to a kernel, for who runs the network around it."""

from pathlib import Path
from typing import Annotated

import typer

from provisioner.commands.boot_keys import boot_keys
from provisioner.network_boot.dnsmasq import render_dnsmasq
from provisioner.network_boot.interfaces import networks_of
from provisioner.network_boot.nginx import Certificate, Front, render_cache, render_nginx
from provisioner.network_boot.options import DhcpServerKind, render_options
from provisioner.network_boot.settings import DhcpMode
from provisioner.settings import Environment, Site, load_site
from provisioner.wiring import dhcp_place

Config = Annotated[Path, typer.Option("--config", "-c", help="site.yaml")]
SITE = Path("site.yaml")

boot_app = typer.Typer(
    help="Network boot: configuration of DHCP and web servers, keys of boot programs.", no_args_is_help=True
)


@boot_app.callback()
def _boot() -> None:
    """Network boot."""


boot_app.command("keys")(boot_keys)


@boot_app.command("render-dnsmasq")
def render_dnsmasq_command(config: Config = SITE) -> None:
    """What the service runs dnsmasq with, where site.yaml says dhcp: full or proxy."""
    site = _site(config)
    boot = site.network_boot
    networks = networks_of(boot.interfaces) if boot.dhcp is DhcpMode.PROXY else ()
    typer.echo(render_dnsmasq(boot, dhcp_place(site), networks=networks), nl=False)


@boot_app.command("options")
def options(
    config: Config = SITE,
    server: Annotated[DhcpServerKind, typer.Option(help="Whose language.")] = DhcpServerKind.KEA,
    tftp: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="The TFTP server.", show_default="the host of public_url")
    ] = None,
) -> None:
    """What a DHCP server that others run has to say to nodes, where site.yaml says dhcp: external."""
    site = _site(config)
    typer.echo(render_options(site.network_boot, server, site.url, tftp), nl=False)


@boot_app.command("render-nginx")
def render_nginx_command(
    config: Config = SITE,
    bodies: Annotated[int, typer.Option(min=1, max=100_000, help="Files on their way at once.")] = 512,
    certificate: Annotated[Path | None, typer.Option(metavar="FILE", help="PEM, for an https public_url.")] = None,
    key: Annotated[Path | None, typer.Option(metavar="FILE", help="PEM, for an https public_url.")] = None,
    cache: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Render a rack's mirror, which keeps files in DIR.")
    ] = None,
    cache_gib: Annotated[int, typer.Option(min=1, max=100_000, help="How much a mirror keeps.")] = 50,
    listen: Annotated[str, typer.Option(metavar="[ADDRESS:]PORT", help="Of a mirror.")] = "80",
) -> None:
    """A web server for large files: in front of the service, or (--cache) as a mirror near to the nodes."""
    site = _site(config)
    host, port = site.listen.host, int(site.listen.port)
    front = Front(site.name, site.url, host, port, site.data_dir.absolute(), bodies)
    if cache is not None:
        typer.echo(render_cache(front, listen=listen, cache=cache, cache_gib=cache_gib), nl=False)
        return
    pair = Certificate(certificate, key) if certificate and key else None
    typer.echo(render_nginx(front, pair), nl=False)


def _site(config: Path) -> Site:
    return load_site(config, Environment())
