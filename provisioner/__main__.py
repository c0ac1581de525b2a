"""The command line: `firstlight`."""

import importlib.metadata
import sys
from typing import Annotated

import typer

from provisioner.bench.command import bench_app
from provisioner.commands.doctor import doctor
from provisioner.commands.node import node_app
from provisioner.commands.plan import plan
from provisioner.commands.serve import serve_command
from provisioner.demo.command import demo
from provisioner.errors import BadInput, FirstlightError

app = typer.Typer(
    help="Takes a GPU server from 'someone plugged it in' to 'in production and kept there'.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo)
app.command("serve")(serve_command)
app.add_typer(node_app, name="node")
app.command("plan")(plan)
app.command("doctor")(doctor)
app.add_typer(bench_app, name="bench")


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
