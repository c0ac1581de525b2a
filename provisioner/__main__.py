"""The command line: `firstlight`. Each command is imported when it is called, so that a short one stays quick."""

import importlib
import importlib.metadata
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from provisioner.errors import BadInput, FirstlightError

_COMMANDS = {
    "demo": "provisioner.demo.command:demo",
    "serve": "provisioner.commands.serve:serve_command",
    "node": "provisioner.commands.node:node_app",
    "discover": "provisioner.commands.discover:discover",
    "plan": "provisioner.commands.plan:plan",
    "image": "provisioner.commands.image:image_app",
    "boot": "provisioner.commands.boot:boot_app",
    "firmware": "provisioner.commands.firmware:firmware_app",
    "compat": "provisioner.commands.compat:compat_app",
    "pool": "provisioner.commands.pool:pool_app",
    "release": "provisioner.commands.release:release_app",
    "promote": "provisioner.commands.promote:promote_app",
    "channel": "provisioner.commands.channel:channel_app",
    "rollout": "provisioner.commands.rollout:rollout_app",
    "keys": "provisioner.commands.keys:keys_app",
    "bundle": "provisioner.commands.bundle:bundle_app",
    "token": "provisioner.commands.token:token_app",
    "audit": "provisioner.commands.audit:audit_app",
    "doctor": "provisioner.commands.doctor:doctor",
    "bench": "provisioner.bench.command:bench_app",
}


class Commands(TyperGroup):
    """The commands of `_COMMANDS`."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  typer asks so
        """In the order in which a newcomer needs them."""
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  typer asks so
        """Import one; None for an unknown name."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        found = getattr(importlib.import_module(module), name)
        if not isinstance(found, typer.Typer):
            command, found = found, typer.Typer(add_completion=False)
            found.command(cmd_name)(command)
        built = typer.main.get_command(found)
        built.name = cmd_name
        return built


app = typer.Typer(
    cls=Commands,
    help="Takes a GPU server from 'someone plugged it in' to 'in production and kept there'.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"firstlight {importlib.metadata.version('firstlight')}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Exit codes: 0 done; 1 not done; 2 wrong input, nothing was started."""
    try:
        app()
    except BadInput as error:
        typer.echo(str(error), err=True)
        sys.exit(2)
    except FirstlightError as error:
        typer.echo(str(error), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
