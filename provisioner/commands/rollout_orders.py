"""`firstlight rollout create|start|...`: a pool on its way to a release, and back."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import orjson
import typer
from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from profiles.fields import parse_duration
from provisioner.commands.client import HERE, Client, DataDir, Url, connect
from provisioner.commands.console import plain, say
from provisioner.commands.rollout_answers import Brief, Plan, RejectedList, Rollout, RolloutPage
from provisioner.commands.rollout_text import line_of, list_table, plan_text, rollout_text
from provisioner.errors import BadInput

Name = Annotated[str, typer.Argument(help="Of the rollout.", metavar="NAME")]
Json = Annotated[bool, typer.Option("--json", help="As the API says it.")]
Wait = Annotated[bool, typer.Option("--wait", help="Until it has ended, or waits for a person.")]
Pool = Annotated[str, typer.Option(help="The pool, as in site.yaml; the name of a hardware class where it has none.")]
Release = Annotated[str, typer.Option(help="The release: its name, or its digest.")]
FloorOption = Annotated[str | None, typer.Option(help="What stays in service, such as 90% or 40; as the pool says.")]
SoakOption = Annotated[str | None, typer.Option(help="How long each wave is watched, such as 4h; as the pool says.")]
Canaries = Annotated[int | None, typer.Option(min=1, help="Units of each kind in the first wave; as the pool says.")]
NoReturn = Annotated[bool, typer.Option("--no-return", help="Stop when a wave fails, and wait for a person.")]
ReturnAll = Annotated[bool, typer.Option("--return-all", help="When a wave fails, those before it go back too.")]
NoControl = Annotated[bool, typer.Option("--no-control", help="Do without a control group: small pools have none.")]
Now = Annotated[bool, typer.Option("--now", help="Do not wait for a window; every other rule holds.")]
Supersedes = Annotated[str | None, typer.Option(help="The rollout in the same pool that makes way for this one.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would happen, and keep nothing.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same waves.")]

_ENDED = frozenset({"complete", "returned", "aborted", "needs_human", "planned", "approved"})
_LOOK_SECONDS = 1.0


def create(
    name: Name,
    pool: Pool,
    release: Release,
    floor: FloorOption = None,
    soak: SoakOption = None,
    canaries: Canaries = None,
    no_return: NoReturn = False,
    return_all: ReturnAll = False,
    no_control: NoControl = False,
    now: Now = False,
    supersedes: Supersedes = None,
    seed: Seed = 0,
    dry_run: DryRun = False,
    as_json: Json = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Plan one: waves, floor, and what a canary of this size can see. It starts when it is approved and started."""
    order = {
        "name": name,
        "pool": pool,
        "release": release,
        "floor": int(floor) if floor and floor.isdigit() else floor,
        "soak_seconds": None if soak is None else _duration(soak).total_seconds(),
        "canaries": canaries,
        "auto_return": not no_return,
        "return_scope": "all" if return_all else "wave",
        "control_required": not no_control,
        "ignore_windows": now,
        "supersedes": supersedes,
        "seed": seed,
    }
    made = _planned(connect(data_dir, url), order, keep=not dry_run, as_json=as_json)
    if made is not None and not as_json:
        say(plain(line_of(made)))


def _planned(client: Client, order: dict[str, Any], *, keep: bool, as_json: bool) -> Rollout | None:
    planned = client.ask("POST", "/v1/rollouts:plan", Plan, order)
    _show(planned, as_json, lambda: say(plan_text(planned)))
    return client.ask("POST", "/v1/rollouts", Rollout, order) if keep else None


def list_rollouts(as_json: Json = False, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Every rollout, newest first."""
    found = _all(connect(data_dir, url))
    if as_json:
        typer.echo(orjson.dumps([one.model_dump(mode="json") for one in found], option=orjson.OPT_INDENT_2))
        return
    say(list_table(found))


def show(name: Name, as_json: Json = False, data_dir: DataDir = HERE, url: Url = None) -> None:
    """One rollout: where it is, why, what you do next, and what happened."""
    one = connect(data_dir, url).ask("GET", _path(name), Rollout)
    _show(one, as_json, lambda: say(rollout_text(one)))


def approve(
    name: Name,
    irreversible: Annotated[bool, typer.Option("--irreversible", help="Firmware that cannot go back.")] = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """You answer for its plan."""
    _tell(connect(data_dir, url), name, "approve", {"irreversible": irreversible})


def start(name: Name, wait: Wait = False, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Go."""
    client = connect(data_dir, url)
    _tell(client, name, "start")
    if wait:
        _follow(client, name)


def pause(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Take no further unit; what is in hand goes on."""
    _tell(connect(data_dir, url), name, "pause")


def resume(name: Name, wait: Wait = False, data_dir: DataDir = HERE, url: Url = None) -> None:
    """End a person's pause."""
    client = connect(data_dir, url)
    _tell(client, name, "resume")
    if wait:
        _follow(client, name)


def abort(name: Name, data_dir: DataDir = HERE, url: Url = None) -> None:
    """Freeze it: units in hand finish, none is taken, nothing moves back."""
    _tell(connect(data_dir, url), name, "abort")


def send_back(
    name: Name,
    everything: Annotated[bool, typer.Option("--all", help="All of it, not only the open wave.")] = False,
    wait: Wait = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Bring it back to the old release: under the floor, without watching."""
    client = connect(data_dir, url)
    _tell(client, name, "return", {"scope": "all" if everything else "wave"})
    if wait:
        _follow(client, name)


def decide(
    name: Name,
    wave: Annotated[int, typer.Option(min=0, help="The wave whose gate waits.")],
    verdict: Annotated[str, typer.Option(help="pass or fail.")],
    why: Annotated[str, typer.Option(help="For the record.")],
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Answer an inconclusive gate; it is used once."""
    _tell(connect(data_dir, url), name, "decide", {"wave": wave, "verdict": verdict, "why": why})


def rejected(data_dir: DataDir = HERE, url: Url = None) -> None:
    """Releases that came back, and from which hardware class."""
    for one in connect(data_dir, url).ask("GET", "/v1/rollouts:rejected", RejectedList).rejected:
        say(plain(f"{one.release[:19]} from {one.hardware_class}, rollout {one.rollout}: {one.why}"))


def pardon(
    release: Annotated[str, typer.Argument(help="The digest of the release.", metavar="DIGEST")],
    hardware_class: Annotated[str, typer.Option("--class", help="The hardware class that it came back from.")],
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """You have found that the release was not at fault: it may be offered to that class again."""
    body = {"release": release, "hardware_class": hardware_class}
    connect(data_dir, url).ask("POST", "/v1/rollouts:pardon", RejectedList, body)
    say(plain(f"{release[:19]} may be rolled out to {hardware_class} again"))


def _follow(client: Client, name: str) -> None:
    """A bar of units on the new release, until it ends or waits for a person; exit 1 unless it is complete."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[where]}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=1.0, where="")
        while True:
            one = client.ask("GET", _path(name), Rollout)
            total = sum(one.counts.values()) or 1
            where = one.state.replace("_", " ") + (f": {one.why}" if one.why else "")
            bar.update(task, total=total, completed=one.counts.get("on_new", 0), where=where)
            if one.state in _ENDED or (one.next and not one.in_hand):
                break
            time.sleep(_LOOK_SECONDS)
    say(plain(line_of(one)))
    if one.state != "complete":
        raise typer.Exit(1)


def _tell(client: Client, name: str, verb: str, body: dict[str, Any] | None = None) -> None:
    say(plain(line_of(client.ask("POST", _path(name, verb), Rollout, body))))


def _duration(text: str) -> timedelta:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise BadInput(f"--soak {text}: write a number and a unit, such as 90m or 4h") from error


def _show(found: BaseModel, as_json: bool, otherwise: Callable[[], None]) -> None:  # what the option says
    if as_json:
        typer.echo(orjson.dumps(found.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
    else:
        otherwise()


def _all(client: Client) -> list[Brief]:
    found: list[Brief] = []
    cursor: str | None = None
    while True:
        pairs = {"limit": "100", **({"cursor": cursor} if cursor else {})}
        page = client.ask("GET", f"/v1/rollouts?{urlencode(pairs)}", RolloutPage)
        found += page.rollouts
        cursor = page.next
        if cursor is None:
            return found


def _path(name: str, verb: str = "") -> str:
    return f"/v1/rollouts/{quote(name, safe='')}" + (f":{verb}" if verb else "")
