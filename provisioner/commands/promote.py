"""`firstlight promote ...`: let a release into a channel, by evidence and a second person."""

import time
from typing import Annotated, Any
from urllib.parse import quote

import orjson
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from profiles.fields import parse_duration
from provisioner.commands.client import HERE, Client, DataDir, Url, connect
from provisioner.commands.console import plain, say
from provisioner.commands.promotion_answers import Promotion, all_promotions, digest_of
from provisioner.commands.promotion_text import line_of, promotion_text, promotions_table, words
from provisioner.errors import BadInput

promote_app = typer.Typer(
    help="Let a release into a channel: dev, canary, production. By evidence, and a second person.",
    no_args_is_help=True,
)

Id = Annotated[str, typer.Argument(metavar="ID", help="Of the promotion.")]
Json = Annotated[bool, typer.Option("--json", help="As the API says it.")]
Wait = Annotated[bool, typer.Option("--wait", help="Until it has ended; exit 1 unless it is applied.")]
ReasonOption = Annotated[str, typer.Option("--reason", help="Why; it is kept.")]

_LOOK_SECONDS = 1.0
_OPEN = {"passed", "waived", "not_needed"}


@promote_app.command("request")
def request(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="Its name, its digest, or how that begins.")],
    channel: Annotated[str, typer.Option(help="dev, canary or production.")],
    reason: ReasonOption,
    wait: Wait = False,
    as_json: Json = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Ask for it. The same release again is the promotion that is open; another one supersedes that."""
    client = connect(data_dir, url)
    body = {"channel": channel, "release": digest_of(client, release), "reason": reason}
    _end(client, client.ask("POST", "/v1/promotions", Promotion, body), wait=wait, as_json=as_json)


@promote_app.command("show")
def show(one: Id, wait: Wait = False, as_json: Json = False, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Each gate: what was seen, by which evidence, what is missing, and what to do."""
    client = connect(data_dir, url)
    _end(client, client.ask("GET", _path(one), Promotion), wait=wait, as_json=as_json)


@promote_app.command("list")
def list_promotions(
    state: Annotated[str | None, typer.Option(help="Such as awaiting_approval.")] = None,
    channel: Annotated[str | None, typer.Option(help="dev, canary or production.")] = None,
    hardware_class: Annotated[str | None, typer.Option("--class", help="Of this hardware class.")] = None,
    as_json: Json = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Every promotion, newest first."""
    asked = {"state": state, "channel": channel, "hardware_class": hardware_class}
    found = list(all_promotions(connect(data_dir, url), **asked))
    if as_json:
        brief = set(Promotion.model_fields) - {"reason", "gates", "approvals", "waivers", "decision", "history"}
        shown = [one.model_dump(mode="json", include=brief) for one in found]
        typer.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2))
        return
    say(promotions_table(found))


@promote_app.command("approve")
def approve(one: Id, wait: Wait = False, data_dir: DataDir = HERE, url: Url = None) -> None:
    """You have looked at the evidence, and say yes. Not for who requested or built it."""
    client = connect(data_dir, url)
    _end(client, client.ask("POST", _path(one, "approve"), Promotion), wait=wait, as_json=False)


@promote_app.command("reject")
def reject(one: Id, reason: ReasonOption, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Say no: it is over."""
    _tell(connect(data_dir, url), one, "reject", {"reason": reason})


@promote_app.command("cancel")
def cancel(one: Id, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Nobody wants it any more."""
    _tell(connect(data_dir, url), one, "cancel")


@promote_app.command("waive")
def waive(
    one: Id,
    gate: Annotated[str, typer.Option(help="signatures, tests, sbom, soak or freeze.")],
    reason: ReasonOption,
    lasts: Annotated[str, typer.Option("--for", metavar="DURATION", help="How long it holds, such as 12h.")] = "1d",
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Do without a gate for a while: you ask, a second person who says the same confirms it."""
    try:
        hours = parse_duration(lasts).total_seconds() / 3600
    except ValueError as error:
        raise BadInput(f"--for {lasts}: write a number and a unit, such as 12h") from error
    _tell(connect(data_dir, url), one, "waive", {"gate": gate, "reason": reason, "hours": hours})


def _end(client: Client, one: Promotion, *, wait: bool, as_json: bool) -> None:
    """Show it, now or when it has ended."""
    if wait and one.ended_at is None:
        one = _follow(client, one)
    if as_json:
        typer.echo(orjson.dumps(one.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
    else:
        say(promotion_text(one))
    if wait and one.state != "applied":
        raise typer.Exit(1)


def _follow(client: Client, one: Promotion) -> Promotion:
    """A bar of open gates until it has ended."""
    where = TextColumn("{task.fields[where]}", markup=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), where, TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(one.id, total=max(1, len(one.gates)), where="")
        while one.ended_at is None:
            shut = [gate for gate in one.gates if gate.state not in _OPEN]
            missing = f": {shut[0].missing}" if shut else ""
            done = len(one.gates) - len(shut)
            bar.update(
                task, total=max(1, len(one.gates)), completed=done, where=plain(words(one.state) + missing).plain
            )
            time.sleep(_LOOK_SECONDS)
            one = client.ask("GET", _path(one.id), Promotion)
    return one


def _tell(client: Client, one: str, verb: str, body: dict[str, Any] | None = None) -> None:
    say(plain(line_of(client.ask("POST", _path(one, verb), Promotion, body))))


def _path(one: str, verb: str = "") -> str:
    return f"/v1/promotions/{quote(one, safe='')}" + (f":{verb}" if verb else "")
