"""`firstlight pool`: what rollouts go through."""

from typing import Annotated

import orjson
import typer
from pydantic import BaseModel

from provisioner.commands.client import HERE, DataDir, Url, connect
from provisioner.commands.console import bare_table, plain, say

pool_app = typer.Typer(help="Pools: what they run, and what they should.", no_args_is_help=True)

_DIGEST = 19


class Pool(BaseModel):
    """One pool."""

    name: str
    hardware_class: str
    nodes: int
    in_service: int
    floor: int
    releases: dict[str, int]
    rollout: str | None
    follows: str | None
    kept_back: bool
    wanted: str | None
    behind: int
    overdue: bool


class PoolList(BaseModel):
    """By name."""

    pools: list[Pool]


@pool_app.callback()
def _pool() -> None:
    """Pools: what they run, and what they should."""


@pool_app.command("list")
def list_pools(
    as_json: Annotated[bool, typer.Option("--json", help="As the API says it.")] = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Every pool; the last column says what is to be done about it."""
    found = connect(data_dir, url).ask("GET", "/v1/pools", PoolList)
    if as_json:
        typer.echo(orjson.dumps(found.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
        return
    table = bare_table("pool", "class", "in service", "floor", "runs", "says", cut=5)
    for one in found.pools:
        runs = ", ".join(f"{release[:_DIGEST]} x{count}" for release, count in one.releases.items())
        words = (one.name, one.hardware_class, f"{one.in_service}/{one.nodes}", str(one.floor), runs, says(one))
        table.add_row(*map(plain, words))
    say(table)


def says(one: Pool) -> str:
    """In words, the most pressing thing first."""
    parts = []
    if one.overdue:
        parts.append(f"OVERDUE: {one.behind} nodes are behind {(one.wanted or '')[:_DIGEST]}")
    elif one.behind:
        parts.append(f"{one.behind} nodes are behind {(one.wanted or '')[:_DIGEST]}")
    if one.kept_back:
        parts.append("kept back")
    if one.rollout:
        parts.append(f"firstlight rollout show {one.rollout}")
    elif one.follows:
        parts.append(f"follows {one.follows}")
    return "; ".join(parts)
