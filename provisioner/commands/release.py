"""`firstlight release ...`: the unit that is promoted, by content."""

from typing import Annotated, Any

import orjson
import typer

from provisioner.commands.client import HERE, Client, DataDir, Url, connect
from provisioner.commands.console import say
from provisioner.commands.promotion_answers import Release, all_releases, digest_of
from provisioner.commands.promotion_text import differences, release_text, releases_table

release_app = typer.Typer(
    help="Releases: image, firmware, BIOS and burn-in together, by content.", no_args_is_help=True
)

Said = Annotated[str, typer.Argument(metavar="RELEASE", help="Its name, its digest, or how that begins.")]
Json = Annotated[bool, typer.Option("--json", help="As the API says it.")]
Known = Annotated[bool | None, typer.Option(show_default="not said")]


@release_app.command("list")
def list_releases(
    hardware_class: Annotated[str | None, typer.Option("--class", help="Of this hardware class.")] = None,
    as_json: Json = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Every release that is kept, newest first."""
    found = list(all_releases(connect(data_dir, url), hardware_class))
    if as_json:
        shown = [one.model_dump(mode="json") for one in found]
        typer.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2))
        return
    say(releases_table(found))


@release_app.command("show")
def show(release: Said, as_json: Json = False, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Everything that is in one, and what way back there is from it."""
    _show(_read(connect(data_dir, url), release), as_json=as_json)


@release_app.command("create")
def create(
    profile: Annotated[str, typer.Argument(metavar="PROFILE", help="The name of a release profile.")],
    follows: Annotated[list[str] | None, typer.Option(help="Nodes may come from this release only; again.")] = None,
    old_image_on_new_firmware: Known = None,
    firmware_downgrade: Known = None,
    as_json: Json = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Make one of a profile as it is now, if its parts go together. The same content again is the same release."""
    client = connect(data_dir, url)
    constraints: dict[str, Any] = {
        "from_releases": [digest_of(client, one) for one in follows or []],
        "old_image_on_new_firmware": old_image_on_new_firmware,
        "firmware_downgrade": firmware_downgrade,
    }
    body = {"profile": profile, **({"constraints": constraints} if any(map(_is_said, constraints.values())) else {})}
    _show(client.ask("POST", "/v1/releases", Release, body), as_json=as_json)


@release_app.command("diff")
def diff(one: Said, other: Said, data_dir: DataDir = HERE, url: Url = None) -> None:
    """What is not the same in two releases."""
    client = connect(data_dir, url)
    say(differences(_read(client, one), _read(client, other)))


def _is_said(value: object) -> bool:
    return value is not None and value != []


def _read(client: Client, said: str) -> Release:
    return client.ask("GET", f"/v1/releases/{digest_of(client, said)}", Release)


def _show(found: Release, *, as_json: bool) -> None:
    if as_json:
        typer.echo(orjson.dumps(found.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
    else:
        say(release_text(found))
