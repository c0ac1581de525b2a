"""`firstlight boot`: how nodes get from their firmware to a kernel, for who runs the network around it."""

import typer

from provisioner.commands.boot_keys import boot_keys

boot_app = typer.Typer(
    help="Network boot: configuration of DHCP and web servers, keys of boot programs.", no_args_is_help=True
)


@boot_app.callback()
def _boot() -> None:
    """Network boot."""


boot_app.command("keys")(boot_keys)
