"""`firstlight firmware journal`: what was done to a node's firmware, and how far it has come."""

from typing import Annotated

import orjson
import typer
from rich.console import Group, RenderableType

from provisioner.commands.answers import FirmwareUpdate, FirmwareUpdates
from provisioner.commands.client import HERE, DataDir, Url, connect
from provisioner.commands.console import bare_table, plain, say

Name = Annotated[str, typer.Argument(help="As on its label and in the expected list.", metavar="NODE")]
AsJson = Annotated[bool, typer.Option("--json", help="As the API says it.")]
Steps = Annotated[bool, typer.Option("--steps", help="Every phase of every update, with its time.")]


def journal_command(
    name: Name, steps: Steps = False, as_json: AsJson = False, data_dir: DataDir = HERE, url: Url = None
) -> None:
    """Each update of a node's firmware, oldest first: its phase, and why it is in it."""
    found = connect(data_dir, url).firmware_updates(name)
    if as_json:
        typer.echo(orjson.dumps(found.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
        return
    say(journal_text(found, steps=steps))


def journal_text(found: FirmwareUpdates, *, steps: bool) -> RenderableType:
    """A table of updates, or one of their phases."""
    if not found.updates:
        return plain(f"nothing was ever flashed on {found.node}")
    table = bare_table("begun", "component", "version", "try", "phase", "since", "what was seen", cut=6)
    for one in found.updates:
        for change in one.changes if steps else one.changes[-1:]:
            begun, since = (f"{at:%Y-%m-%d %H:%M:%S}" for at in (one.changes[0].at, change.at))
            table.add_row(begun, _what(one), one.version, str(one.attempt), change.phase, since, change.reason)
    return Group(table)


def _what(one: FirmwareUpdate) -> str:
    return f"{one.component} ({one.part})" if one.part else one.component
