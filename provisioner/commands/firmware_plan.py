"""`firstlight firmware plan` and `compliance`: what would be done to firmware, and what runs beside what should."""

from typing import Annotated
from urllib.parse import quote, urlencode

import orjson
import typer
from pydantic import BaseModel

from provisioner.commands.client import HERE, Client, DataDir, Url, connect
from provisioner.commands.console import say
from provisioner.commands.firmware_answers import Compliance, FirmwarePlan, PoolPlan
from provisioner.commands.firmware_text import compliance_text, node_plan_text, pool_plan_text
from provisioner.errors import BadInput, NotFound

Rack = Annotated[str | None, typer.Option(help="Only the nodes of this rack.")]
AsJson = Annotated[bool, typer.Option("--json", help="As the API says it, with every node's name.")]


def firmware_plan(
    name: Annotated[str | None, typer.Argument(metavar="[NODE|POOL]", help="A pool is a hardware class.")] = None,
    rack: Rack = None,
    as_json: AsJson = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """What would be done to the firmware of a node or a pool, in stages; changes nothing.

    Of a node its BMC is read now; of a pool the last inventories are, and no BMC is asked.
    """
    if name is None and rack is None:
        raise BadInput("firmware plan: name a node, a hardware class, or a rack with --rack")
    plan = _plan(connect(data_dir, url), name, rack)
    if as_json:
        _echo(plan)
    else:
        say(node_plan_text(plan) if isinstance(plan, FirmwarePlan) else pool_plan_text(plan))


def firmware_compliance(
    pool: Annotated[str | None, typer.Argument(metavar="[POOL]", help="A hardware class; all without.")] = None,
    rack: Rack = None,
    as_json: AsJson = False,
    data_dir: DataDir = HERE,
    url: Url = None,
) -> None:
    """What a pool runs beside its bundle, by component class, as its last inventories say; asks no BMC."""
    seen = connect(data_dir, url).ask("GET", "/v1/firmware/compliance" + _pool(pool, rack), Compliance)
    if as_json:
        _echo(seen)
    else:
        say(compliance_text(seen))


def _plan(client: Client, name: str | None, rack: str | None) -> FirmwarePlan | PoolPlan:
    """A node's name goes before that of a pool; with --rack only a pool is meant."""
    if name is not None and rack is None:
        try:
            return client.ask("GET", f"/v1/nodes/{quote(name, safe='')}/firmware-plan", FirmwarePlan)
        except NotFound:
            pass
    try:
        return client.ask("GET", "/v1/firmware/plan" + _pool(name, rack), PoolPlan)
    except NotFound as error:
        if name is None or rack is not None:
            raise
        raise NotFound(f"no node and no hardware class with nodes is called {name}") from error


def _pool(pool: str | None, rack: str | None) -> str:
    pairs = {name: value for name, value in (("pool", pool), ("rack", rack)) if value is not None}
    return f"?{urlencode(pairs)}" if pairs else ""


def _echo(model: BaseModel) -> None:
    typer.echo(orjson.dumps(model.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
