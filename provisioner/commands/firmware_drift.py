"""`firstlight firmware drift`: which nodes have drifted from their firmware bundles?"""

from datetime import datetime
from typing import Annotated

import orjson
import typer
from pydantic import BaseModel

from provisioner.commands.client import HERE, DataDir, Url, connect
from provisioner.commands.console import ago, bare_table, plain, say


class Finding(BaseModel):
    """One finding that stands."""

    kind: str
    where: str
    component: str
    wanted: str | None
    versions: dict[str, list[str]]
    odd: list[str]
    told: str
    since: datetime


class Drift(BaseModel):
    """All of them."""

    findings: list[Finding]
    nodes_read: int
    oldest_reading_at: datetime | None


def drift_command(
    as_json: Annotated[bool, typer.Option("--json", help="As the API says it.")] = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """Nodes off their bundle or mixed, and pools that differ within one job's reach. Nothing is done about them."""
    told = connect(data_dir, url).ask("GET", "/v1/firmware/drift", Drift)
    if as_json:
        typer.echo(orjson.dumps(told.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
        return
    if told.findings:
        table = bare_table("finding", "for", "what", "nodes", cut=3)
        for one in told.findings:
            words = (one.kind.replace("_", " "), ago(one.since), one.told, ", ".join(one.odd))
            table.add_row(*map(plain, words))
        say(table)
    oldest = f", the oldest {ago(told.oldest_reading_at)} ago" if told.oldest_reading_at else ""
    say(plain(f"{len(told.findings)} findings; {told.nodes_read} nodes were read{oldest}"))
