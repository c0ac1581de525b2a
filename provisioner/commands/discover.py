"""`firstlight discover`: which BMCs answer, and is that what the plan says?"""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.commands.answers import Discoveries, FoundBmc, Instruction, MissingNode, UnexpectedBmc
from provisioner.commands.client import Client, connect
from provisioner.commands.console import ago, bare_table, plain, say
from provisioner.discovery.found import remember
from provisioner.discovery.look import look
from provisioner.discovery_loop import places_of
from provisioner.errors import BadInput
from provisioner.models import found_bmc, instruction
from provisioner.services import discoveries
from provisioner.settings import Environment, load_site
from provisioner.wiring import Checked, check, looking

_PATIENCE = timedelta(minutes=5)
"""What a scan may take beyond its interval before anybody is told."""


def discover(
    config: Annotated[Path, typer.Option("--config", "-c", help="site.yaml")] = Path("site.yaml"),
    once: Annotated[bool, typer.Option("--once", help="Scan now, also where a service runs that does.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As the API says it.")] = False,
) -> None:
    """Every BMC in the ranges of site.yaml: expected, unexpected or missing. Sends no credentials, changes nothing.

    Where the service runs, what it saw last; else, or with --once, a scan from here: it knows the expected list alone.
    """
    environment = Environment()
    checked = check(load_site(config, environment))
    client = None if once else _service(checked, environment)
    told = client.discoveries() if client else _scanned_now(checked, config)
    if as_json:
        typer.echo(orjson.dumps(told.model_dump(mode="json"), option=orjson.OPT_INDENT_2))
        return
    say(discoveries_text(told))


def discoveries_text(told: Discoveries) -> RenderableType:
    """One line per BMC or node, then what people do about those that are not as planned; unknown hosts below."""
    if told.scanned_at is None:
        unscanned = plain("the service has not finished a scan yet; does its site.yaml name any discovery.ranges?")
        return Group(unscanned, *_hosts(told))
    table = bare_table("address", "vendor", "product", "uuid", "is", breaks=4)
    for known in told.expected:
        table.add_row(*_cells(known), plain(f"expected: {known.node}"))
    for stranger in told.unexpected:
        same = f" (UUID of {', '.join(stranger.same_uuid)})" if stranger.same_uuid else ""
        table.add_row(*_cells(stranger), Text.assemble(("unexpected", "yellow"), plain(same)))
    for gone in told.missing:
        address = plain(f"{gone.address}:{gone.port}")
        where = plain(f": {gone.node}, rack {gone.rack}, position {gone.position}")
        table.add_row(address, "", "", "", Text.assemble(("missing", "red"), where))
    to_do = [_to_do(one.instruction) for one in told.unexpected] + [_to_do(one.instruction) for one in told.missing]
    counts = f"{len(told.expected)} expected, {len(told.unexpected)} unexpected, {len(told.missing)} missing"
    scanned = f"{ago(told.scanned_at)} ago{_late(told)}: {', '.join(told.ranges) or 'by SSDP'}"
    return Group(table, Text(), plain(f"{counts}; scanned {scanned}"), *to_do, *_hosts(told))


def _hosts(told: Discoveries) -> Iterator[RenderableType]:
    """Who asked for an address or for something to boot, and is no node."""
    if not told.hosts:
        return
    table = bare_table("mac", "address", "class", "serial", "uuid", "asked", breaks=2)
    for one in told.hosts:
        words = (one.mac, one.address, one.client_class, one.serial, one.uuid, f"{ago(one.last_seen)} ago")
        table.add_row(*map(plain, words))
    yield Text()
    yield plain(f"{len(told.hosts)} hosts asked for an address or for something to boot, and belong to no node:")
    yield table
    yield plain(f"{told.hosts[0].instruction.owner}: {told.hosts[0].instruction.what}")


def _late(told: Discoveries) -> str:
    if told.scanned_at is None or told.next_scan_at is None:
        return ""
    latest = told.next_scan_at + max(told.next_scan_at - told.scanned_at, _PATIENCE)
    return " (the next scan is overdue: see the log of the service)" if datetime.now(UTC) > latest else ""


def _service(checked: Checked, environment: Environment) -> Client | None:
    """The service of this site, where one answers."""
    if environment.url is None and not (checked.site.data_dir / "endpoint").exists():
        return None
    client = connect(checked.site.data_dir, environment.url)
    return client if client.answers() else None


def _scanned_now(checked: Checked, config: Path) -> Discoveries:
    places = places_of(checked.site.discovery)
    if places.nowhere:
        raise BadInput(f"{config}: discovery: names nowhere to look; add ranges: [10.0.1.0/24], or ssdp: true")
    began = datetime.now(UTC)
    seen = asyncio.run(_look(checked))
    now = datetime.now(UTC)
    scan = found_bmc.Scan(began, now, now, tuple(str(one) for one in places.networks), places.port)
    plan = [discoveries.planned(one.node) for one in checked.expected]
    told = discoveries.instruct(scan, [remember(None, one, now) for one in seen], plan)
    return _answer(told, scan)


async def _look(checked: Checked) -> tuple[found_bmc.Sighting, ...]:
    async with looking(checked.site) as bmcs:
        return await look(places_of(checked.site.discovery), bmcs)


def _answer(told: discoveries.Discoveries, scan: found_bmc.Scan) -> Discoveries:
    return Discoveries(
        scanned_at=scan.finished_at,
        next_scan_at=None,
        ranges=list(scan.networks),
        expected=[FoundBmc(**_said(one.bmc), node=one.node.name) for one in told.expected],
        unexpected=[
            UnexpectedBmc(
                **_said(one.bmc),
                same_uuid=[node.name for node in one.same_uuid],
                instruction=_instruction(one.instruction),
            )
            for one in told.unexpected
        ],
        missing=[
            MissingNode(
                node=one.node.name,
                rack=one.node.rack,
                position=one.node.position,
                address=one.node.bmc.host,
                port=one.node.bmc.port,
                elsewhere=[str(bmc.address) for bmc in one.elsewhere],
                instruction=_instruction(one.instruction),
            )
            for one in told.missing
        ],
    )


def _said(bmc: found_bmc.FoundBmc) -> dict[str, object]:
    return {
        "address": bmc.address.host,
        "port": bmc.address.port,
        "vendor": bmc.vendor,
        "product": bmc.product,
        "uuid": bmc.uuid,
    }


def _instruction(one: instruction.Instruction) -> Instruction:
    return Instruction(owner=one.owner, where=one.where, what=one.what, done_when=one.done_when, part=one.part)


def _cells(bmc: FoundBmc | UnexpectedBmc) -> tuple[Text, ...]:
    return plain(f"{bmc.address}:{bmc.port}"), plain(bmc.vendor), plain(bmc.product), plain(bmc.uuid)


def _to_do(one: Instruction) -> Text:
    return plain(f"{one.owner}, {one.where}: {one.what}")
