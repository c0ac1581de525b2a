"""`firstlight demo`: racks of emulated servers go from dark to ready."""

import asyncio
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from provisioner.demo.rack import PERSONAS, DemoPlan, emulated, prepare
from provisioner.demo.show import Show
from provisioner.demo.virtual_machine import run_with_machine
from provisioner.errors import BadInput
from provisioner.logs import log_to
from provisioner.serving import serve
from provisioner.settings import Environment, Site, load_site
from provisioner.wiring import check


def demo(
    data_dir: Annotated[Path, typer.Option(help="What a second run takes up again.")] = Path("firstlight-data"),
    racks: Annotated[int, typer.Option(min=1, max=250)] = 2,
    trays: Annotated[int, typer.Option(min=1, max=250, help="Servers per rack.")] = 8,
    speed: Annotated[float, typer.Option(min=0, help="Emulated seconds per second; 0: nothing takes time.")] = 60.0,
    persona: Annotated[str, typer.Option(help="Kinds of servers, in turn.")] = ",".join(PERSONAS),
    fault: Annotated[list[str] | None, typer.Option(help="NAME@NODE, such as task-vanishes@r01-u02.")] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Of the API; another one when it is taken.")] = 8410,
    exit_when_ready: Annotated[bool, typer.Option("--exit-when-ready", help="End when nobody has to wait.")] = False,
    vm: Annotated[
        bool, typer.Option("--vm", help="One real virtual machine instead, with an image built now.")
    ] = False,
    inside: Annotated[bool, typer.Option("--inside", hidden=True)] = False,
) -> None:
    """Two racks of eight emulated GPU servers go from dark to ready, over real HTTP, while you watch.

    With --vm: Debian is built into an image, and a virtual machine's own firmware boots it from the network (root on
    Debian, a few minutes).
    """
    data_dir = data_dir.resolve()
    if vm:
        options = ["--exit-when-ready"] if exit_when_ready else []
        raise typer.Exit(run_with_machine(data_dir, port, options))
    if inside:
        _show(load_site(data_dir / "site.yaml"), nullcontext(), exit_when_ready)
        return
    plan = DemoPlan(
        data_dir=data_dir,
        racks=racks,
        trays=trays,
        speed=speed,
        personas=tuple(persona.split(",")),
        faults=tuple(_fault(one) for one in fault or ()),
        port=port,
    )
    plan.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    _show(prepare(plan), emulated(plan), exit_when_ready)


def _show(site: Site, servers: AbstractContextManager[object], exit_when_ready: bool) -> None:
    """Run the site beside `servers` until it ends. Exits with 1 when a node is held at the end of a run that ends."""
    log_to(site.data_dir / "firstlight.log")
    console = Console()
    show = Show(console, exit_when_ready)
    checked = check(site)
    with servers:
        asyncio.run(serve(checked, Environment(data_dir=site.data_dir), show.beside))
    for line in show.instructions():
        console.print(line)
    console.print(show.summary(), highlight=False)
    if exit_when_ready and show.held:
        raise typer.Exit(1)


def _fault(text: str) -> tuple[str, str]:
    name, at, node = text.partition("@")
    if not (name and at and node):
        raise BadInput(f"--fault {text}: write NAME@NODE, such as task-vanishes@r01-u02 (firstlight-emulator faults)")
    return name, node
