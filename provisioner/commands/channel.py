"""`firstlight channel ...`: where channels stand, and the way back."""

from typing import Annotated
from urllib.parse import quote, urlencode

import orjson
import typer

from provisioner.commands.client import HERE, DataDir, Url, connect
from provisioner.commands.console import say
from provisioner.commands.promotion_answers import Channel, ChannelList, digest_of
from provisioner.commands.promotion_text import channel_text, channels_table
from provisioner.errors import BadInput

channel_app = typer.Typer(help="Which release a hardware class gets from which channel.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="CHANNEL", help="dev, canary or production.")]
Class = Annotated[str, typer.Option("--class", metavar="CLASS", help="The hardware class.")]
Json = Annotated[bool, typer.Option("--json", help="As the API says it.")]


@channel_app.command("list")
def list_channels(as_json: Json = False, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Every pointer that something was promoted to."""
    found = connect(data_dir, url).ask("GET", "/v1/channels", ChannelList).channels
    if as_json:
        shown = [one.model_dump(mode="json", exclude={"rollback_to", "history"}) for one in found]
        typer.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2))
        return
    say(channels_table(found))


@channel_app.command("show")
def show(
    channel: Name, hardware_class: Class, as_json: Json = False, data_dir: DataDir = HERE, url: Url = None
) -> None:
    """Where it stands, what it may be rolled back to, and how it got there."""
    one = connect(data_dir, url).ask("GET", _path(channel, hardware_class), Channel)
    if as_json:
        typer.echo(orjson.dumps(one.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
        return
    say(channel_text(one))


@channel_app.command("rollback")
def rollback(
    channel: Name,
    hardware_class: Class,
    reason: Annotated[str, typer.Option(help="Why; it is kept.")],
    to: Annotated[str | None, typer.Option(metavar="RELEASE", help="Its digest; the one before, where absent.")] = None,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Back to an earlier release, at once and without gates. Nodes follow by their pools, or by a rollout."""
    client = connect(data_dir, url)
    seen = client.ask("GET", _path(channel, hardware_class), Channel)
    if to is None and not seen.rollback_to:
        raise BadInput(f"{channel} of {hardware_class} has no earlier release: promote one")
    release = seen.rollback_to[0] if to is None else digest_of(client, to)
    body = {"release": release, "reason": reason}
    tag = {"If-Match": f'"{seen.revision}"'}
    say(channel_text(client.ask("POST", _path(channel, hardware_class, ":rollback"), Channel, body, tag)))


def _path(channel: str, hardware_class: str, verb: str = "") -> str:
    return f"/v1/channels/{quote(channel, safe='')}{verb}?{urlencode({'hardware_class': hardware_class})}"
