"""`firstlight firmware campaign ...`: bring a pool to the firmware bundle of a release."""

from datetime import datetime, timedelta
from typing import Annotated
from urllib.parse import quote, urlencode

import orjson
import typer
from pydantic import BaseModel
from rich.console import Group, RenderableType
from rich.text import Text

from profiles.fields import parse_duration
from provisioner.commands.client import HERE, Client, DataDir, Url, connect
from provisioner.commands.console import ago, bare_table, plain, say, short
from provisioner.errors import BadInput

campaign_app = typer.Typer(
    help="Bring a pool to the firmware bundle of a release: canary first, a stop at the first surprise.",
    no_args_is_help=True,
)

Name = Annotated[str, typer.Argument(help="Of the campaign.", metavar="NAME")]
Json = Annotated[bool, typer.Option("--json", help="As the API says it.")]


class Member(BaseModel):
    """One node of a campaign."""

    node: str
    rack: str
    state: str
    since: datetime | None
    why: str


class Line(BaseModel):
    """One line of a history."""

    at: datetime
    what: str


class Campaign(BaseModel):
    """One campaign; `members` and `history` where it is shown alone."""

    name: str
    release: str
    hardware_class: str
    state: str
    why: str
    who: str
    started_at: datetime
    ended_at: datetime | None
    per_rack: int
    per_site: int
    canaries: int
    ready_within_seconds: float
    counts: dict[str, int]
    members: list[Member] = []
    history: list[Line] = []


class CampaignPage(BaseModel):
    """Some campaigns, and where the others begin."""

    campaigns: list[Campaign]
    next: str | None


@campaign_app.command("start")
def start(
    name: Name,
    release: Annotated[str, typer.Option(help="The release whose firmware bundle is the aim.")],
    hardware_class: Annotated[str | None, typer.Option("--class", help="The pool; as the release says.")] = None,
    rack: Annotated[list[str] | None, typer.Option(help="Only this rack; may be given again.")] = None,
    node: Annotated[list[str] | None, typer.Option(help="Only this node; may be given again.")] = None,
    per_rack: Annotated[int, typer.Option(min=1, help="Nodes of one rack at once.")] = 2,
    per_site: Annotated[int, typer.Option(min=1, help="Nodes at once.")] = 16,
    canaries: Annotated[int, typer.Option(min=0, help="Nodes that are ready again before any other starts.")] = 1,
    ready_within: Annotated[str | None, typer.Option(help="A node that takes longer stops it, such as 4h.")] = None,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Start one. Nodes in production, held, in maintenance or busy are left alone; the others are installed anew."""
    order = {
        "name": name,
        "release": release,
        "hardware_class": hardware_class,
        "racks": rack or [],
        "nodes": node or [],
        "per_rack": per_rack,
        "per_site": per_site,
        "canaries": canaries,
        "ready_within_seconds": None if ready_within is None else _duration(ready_within).total_seconds(),
    }
    _tell(connect(data_dir, url).ask("POST", "/v1/campaigns", Campaign, order))


@campaign_app.command("list")
def list_campaigns(as_json: Json = False, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Every campaign, newest first."""
    found = _all(connect(data_dir, url))
    if as_json:
        hidden = {"members", "history"}
        shown = [one.model_dump(mode="json", exclude=hidden) for one in found]
        typer.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2))
        return
    table = bare_table("campaign", "release", "state", "started", "nodes", "why", cut=5)
    for one in found:
        words = (one.name, one.release, one.state, f"{ago(one.started_at)} ago", _counted(one), one.why)
        table.add_row(*map(plain, words))
    say(table)


@campaign_app.command("show")
def show(name: Name, as_json: Json = False, data_dir: DataDir = HERE, url: Url = None) -> None:
    """One campaign: its nodes in the order of their turns, and what happened."""
    one = connect(data_dir, url).ask("GET", _path(name), Campaign)
    if as_json:
        typer.echo(orjson.dumps(one.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
        return
    say(campaign_text(one))


@campaign_app.command("pause")
def pause(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Start nothing more; what runs goes on."""
    _tell(connect(data_dir, url).ask("POST", _path(name, "pause"), Campaign))


@campaign_app.command("resume")
def resume(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """You have looked at what stopped it: let it go on."""
    _tell(connect(data_dir, url).ask("POST", _path(name, "resume"), Campaign))


@campaign_app.command("abort")
def abort(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Never start anything of it again; what runs goes on."""
    _tell(connect(data_dir, url).ask("POST", _path(name, "abort"), Campaign))


def campaign_text(one: Campaign) -> RenderableType:
    """Limits, counts, a line for each node, and the history."""
    within = short(one.ready_within_seconds)
    limits = f"{one.canaries} canaries, then {one.per_rack} of a rack and {one.per_site} of the site at once"
    table = bare_table("node", "rack", "state", "for", "seen", cut=4)
    for member in one.members:
        since = ago(member.since) if member.since else ""
        table.add_row(*map(plain, (member.node, member.rack, member.state.replace("_", " "), since, member.why)))
    history = [plain(f"{line.at:%Y-%m-%d %H:%M:%S} {line.what}") for line in one.history]
    head = f"{_line(one)}\n{one.hardware_class} to {one.release}: {limits}; each ready within {within}"
    return Group(plain(head), Text(), table, Text(), *history)


def _all(client: Client) -> list[Campaign]:
    found: list[Campaign] = []
    cursor: str | None = None
    while True:
        pairs = {"limit": "100", **({"cursor": cursor} if cursor else {})}
        page = client.ask("GET", f"/v1/campaigns?{urlencode(pairs)}", CampaignPage)
        found += page.campaigns
        cursor = page.next
        if cursor is None:
            return found


def _tell(one: Campaign) -> None:
    say(plain(_line(one)))


def _line(one: Campaign) -> str:
    return f"{one.name}: {one.state}{f' ({one.why})' if one.why else ''}; {_counted(one)}"


def _counted(one: Campaign) -> str:
    return ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in one.counts.items() if count) or "no node"


def _duration(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise BadInput(f"--ready-within {text}: write a number and a unit, such as 90m or 4h") from error


def _path(name: str, what: str = "") -> str:
    return f"/v1/campaigns/{quote(name, safe='')}" + (f"/{what}" if what else "")
