"""`firstlight firmware inspect`: what is in a firmware file, and whether it is whole."""

from pathlib import Path
from typing import Annotated

import orjson
import typer

from provisioner.commands.console import plain, say
from provisioner.commands.firmware_inspect_text import inspection_text
from provisioner.commands.firmware_inspect_view import inspection_view, refusal_view
from provisioner.errors import PackageError
from provisioner.firmware.package.inspect import inspect_file

File = Annotated[Path, typer.Argument(metavar="FILE", help="A firmware file of any maker.")]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse also an image that lies inside the header.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


def inspect_command(file: File, strict: Strict = False, as_json: AsJson = False) -> None:
    """Say what a firmware file holds: PLDM packages in full, other forms by their signature.

    Exit codes: 0 fit to be sent; 1 refused, with the field and what to do; 2 no such file.
    """
    try:
        inspection = inspect_file(file, strict=strict)
    except PackageError as error:
        if as_json:
            typer.echo(orjson.dumps(refusal_view(error), option=orjson.OPT_INDENT_2))
        else:
            typer.echo(plain(f"{file}: refused: {error}").plain, err=True)
        raise typer.Exit(1) from error
    if as_json:
        typer.echo(orjson.dumps(inspection_view(inspection), option=orjson.OPT_INDENT_2))
        return
    say(inspection_text(file.name, inspection))
