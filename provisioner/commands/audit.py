"""`firstlight audit ...`: who changed what, and is the log whole?"""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, TextIO
from urllib.parse import urlencode

import typer
from pydantic import BaseModel

from provisioner.commands.client import HERE, Client, DataDir, Url, connect
from provisioner.commands.console import plain, say
from provisioner.errors import BadInput, FirstlightError
from provisioner.models.audit import text_of
from provisioner.services.audit import AuditDocument, Broken, verify

audit_app = typer.Typer(help="Who changed what: export the log, and see that nothing in it was changed.")


class AuditPage(BaseModel):
    """Some lines, and where the others begin."""

    lines: list[AuditDocument]
    next: str | None


@audit_app.command("export")
def export(
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="A new file; else to standard output.")
    ] = None,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """The whole log as JSON lines, oldest first. Needs the token of an administrator."""
    lines = _lines(connect(data_dir, url))
    if out is None:
        for line in lines:
            typer.echo(line)
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            count = sum(1 for line in lines if file.write(f"{line}\n"))
    except FileExistsError as error:
        raise BadInput(f"{out}: is there already: name a new file") from error
    except OSError as error:
        raise FirstlightError(f"{out}: cannot be written: {error}") from error
    typer.echo(f"{out}: {count} lines", err=True)


@audit_app.command("verify")
def verify_command(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="As export wrote it, or - ; else the service's own log.")
    ] = None,
    head: Annotated[
        str | None, typer.Option("--head", metavar="DIGEST", help="What an earlier verify said: it must be there.")
    ] = None,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Find a line that was changed, is missing or was moved; name it, and end with 1."""
    where = str(file) if file is not None else "the service's log"
    with _opened(file, data_dir, url) as lines:
        found = verify(lines, head)
    if isinstance(found, Broken):
        say(plain(f"{where}, line {found.place}: {found.why}"))
        raise typer.Exit(1)
    say(plain(f"{where}: {found.count} lines, none changed, missing or moved; the last one is {found.head}"))


@contextlib.contextmanager
def _opened(file: Path | None, data_dir: Path, url: str | None) -> Iterator[Iterable[str]]:
    if file is None:
        yield _lines(connect(data_dir, url))
        return
    if str(file) == "-":
        yield _readable(sys.stdin, "standard input")
        return
    try:
        with file.open(encoding="utf-8") as text:
            yield _readable(text, str(file))
    except OSError as error:
        raise BadInput(f"{file}: cannot be read: {error}") from error


def _readable(text: TextIO, where: str) -> Iterator[str]:
    try:
        yield from text
    except UnicodeDecodeError as error:
        raise BadInput(f"{where}: is not text: {error}") from error


def _lines(client: Client) -> Iterator[str]:
    """Page by page, as long as the service has more."""
    cursor: str | None = None
    while True:
        query = urlencode({"limit": "500", **({"cursor": cursor} if cursor else {})})
        page = client.ask("GET", f"/v1/audit?{query}", AuditPage)
        for document in page.lines:
            yield text_of(document.line())
        cursor = page.next
        if cursor is None:
            return
