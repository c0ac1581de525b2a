"""`firstlight firmware`: what firmware files hold, and what nodes run beside what they should."""

import typer

from provisioner.commands.firmware_campaign import campaign_app
from provisioner.commands.firmware_drift import drift_command
from provisioner.commands.firmware_inspect import inspect_command
from provisioner.commands.firmware_journal import journal_command
from provisioner.commands.firmware_plan import firmware_compliance, firmware_plan

firmware_app = typer.Typer(help="Firmware: files, plans, compliance, campaigns.", no_args_is_help=True)


@firmware_app.callback()
def _firmware() -> None:
    """Firmware: files, plans, compliance, campaigns."""


firmware_app.command("inspect")(inspect_command)
firmware_app.command("drift")(drift_command)
firmware_app.add_typer(campaign_app, name="campaign")
firmware_app.command("plan")(firmware_plan)
firmware_app.command("compliance")(firmware_compliance)
firmware_app.command("journal")(journal_command)
