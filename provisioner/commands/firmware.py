"""`firstlight firmware`: what firmware files hold, and what nodes run beside what they should."""

import typer

from provisioner.commands.firmware_inspect import inspect_command

firmware_app = typer.Typer(help="Firmware: files, plans, compliance, campaigns.", no_args_is_help=True)


@firmware_app.callback()
def _firmware() -> None:
    """Firmware: files, plans, compliance, campaigns."""


firmware_app.command("inspect")(inspect_command)
