"""`firstlight bench`: figures of one run on this machine, as a table and as JSON."""

from dataclasses import asdict
from typing import Annotated

import typer

from profiles.loader import SHIPPED
from provisioner.bench import api, boot, emulator, images, inventory, rollout, rollout_simulate, served
from provisioner.bench.firmware import firmware_of
from provisioner.bench.line import measure
from provisioner.bench.report import Json, keep, show
from provisioner.commands.image_profiles import Name, day_of, debian, load_profiles, one_profile
from provisioner.commands.image_supplies import Config, site_here, supplies_of

bench_app = typer.Typer(help="Measure this installation on this machine.", no_args_is_help=True)
Bmcs = Annotated[int, typer.Option(min=1, max=2000, help="Emulated servers.")]


@bench_app.callback()
def _measure() -> None:
    """Measure this installation on this machine."""


bench_app.command("firmware")(firmware_of)


@bench_app.command("line")
def line(
    nodes: Annotated[list[int] | None, typer.Option(help="Emulated servers; twice for a comparison.")] = None,
    json_file: Json = None,
) -> None:
    """Emulated GPU servers from dark to ready, emulated durations at zero, emulator on the same cores, SQLite."""
    figures = [measure(count) for count in nodes or [200, 400]]
    show("bench line", {f"{one.nodes} nodes": one.as_dict() for one in figures})
    if len(figures) > 1:
        first, last = figures[0], figures[-1]
        typer.echo(f"{last.nodes} nodes took {last.seconds / first.seconds:.2f} times as long as {first.nodes}")
    keep(json_file, [one.as_dict() for one in figures])


@bench_app.command("inventory")
def inventory_of(
    bmcs: Bmcs = 1000,
    personas: Annotated[str, typer.Option(help="Kinds of servers, in turn.")] = "hgx-h100",
    json_file: Json = None,
) -> None:
    """Read every emulated GPU server: our sweep, stock sushy, bare aiohttp; the emulator on one core, they on another.

    All read what our sweep reads, log in, and log out. The certificates are pinned already. Milliseconds are user and
    system time of the client alone, each in a process of its own; memory is how far its peak lies above its start.
    """
    figures = inventory.measure(bmcs, tuple(personas.split(",")))
    show("bench inventory", {one.client: one.figures() for one in figures.clients})
    for note in figures.notes():
        typer.echo(note)
    keep(json_file, figures.as_dict())


@bench_app.command("emulator")
def emulator_of(
    bmcs: Bmcs = 1000,
    persona: Annotated[str, typer.Option(help="The kind of server.")] = "hgx-h100",
    seconds: Annotated[float, typer.Option(min=0.1, max=60, help="How long each load lasts.")] = 10.0,
    json_file: Json = None,
) -> None:
    """GETs per second of the emulator on one core, for one BMC and for all, with TLS and without.

    Each connection has one request on the way and has asked for everything once before anything counts.
    """
    figures = emulator.measure(bmcs, persona, seconds)
    show("bench emulator", {one.name: one.figures() for one in figures})
    typer.echo("The core that is busy to 100 % bounds the load; where none is, something else ran on these cores.")
    keep(json_file, [one.as_dict() for one in figures])


@bench_app.command("boot")
def boot_of(
    nodes: Annotated[int, typer.Option(min=1, max=50_000, help="Servers that wait for their boot.")] = 10_000,
    mebibytes: Annotated[int, typer.Option(min=1, max=4096, help="Size of the file that is served.")] = 256,
    seconds: Annotated[float, typer.Option(min=0.1, max=60, help="How long each load lasts.")] = 10.0,
    json_file: Json = None,
) -> None:
    """Boot decisions per second on one core, on a full SQLite store; how fast files leave, with nginx and without.

    The load runs on another core. Every answer is looked at: one that boots nothing ends the bench.
    """
    files = served.measure_served(mebibytes, seconds)
    decisions = boot.measure_decisions(nodes, seconds)
    show("bench boot: decisions", {one.kind: one.figures() for one in decisions})
    show("bench boot: files", {one.server: one.figures() for one in files})
    typer.echo("The core that is busy to 100 % bounds the decisions; where none is, something else ran on these cores.")
    keep(json_file, {"decisions": [one.as_dict() for one in decisions], "files": [one.as_dict() for one in files]})


@bench_app.command("api")
def api_of(
    nodes: Annotated[int, typer.Option(min=100, max=100_000, help="Nodes of the site.")] = 10_000,
    seconds: Annotated[float, typer.Option(min=0.1, max=60, help="How long each round lasts.")] = 5.0,
    json_file: Json = None,
) -> None:
    """How long a page of the list of nodes takes, alone and while boots are decided; p95 under 50 ms is the aim."""
    measured = api.measure_pages(nodes, seconds)
    show("bench api: pages of 100 nodes", {f"beside {one.beside}": one.figures() for one in measured})
    keep(json_file, [one.as_dict() for one in measured])


@bench_app.command("rollout")
def rollout_of(
    planned: Annotated[int, typer.Option(min=20, max=200_000, help="Servers that are planned.")] = 100_000,
    nodes: Annotated[
        int, typer.Option(min=20, max=100_000, help="Servers that are taken to another release.")
    ] = 10_000,
    simulated: Annotated[int, typer.Option(min=200, max=1_000_000, help="Nodes of the simulated runs.")] = 100_000,
    json_file: Json = None,
) -> None:
    """Plan a rollout, and take one to its end step by step: each server a unit, 32 of them on a leaf.

    Every server answers at once, so that all units in hand move in each step: real ones spread that. CPU time alone.
    Then whole simulated runs, with boots, jobs and failures, in units of 18 nodes.
    """
    figures = rollout.measure(planned, nodes)
    show("bench rollout", figures.columns())
    runs = {one.release: asdict(one) for one in rollout_simulate.measure(simulated)}
    show("bench rollout: simulated", runs)
    keep(json_file, {**asdict(figures), "simulated": runs})


@bench_app.command("images")
def images_of(name: Name = "debian-12-base", config: Config = None, json_file: Json = None) -> None:
    """A full build against bare mmdebstrap and mksquashfs with the same packages; then no change, and one file more.

    Packages come from the site's mirrors, or this machine's own apt sources. Needs root, a few GiB, and minutes.
    """
    site = site_here(config)
    image = debian(one_profile(load_profiles((site and site.profiles) or SHIPPED), name), name)
    site_files = site.site_files if site else None
    figures = images.measure(image, lambda place: supplies_of(image, site, place, day_of(None)), site_files)
    show("bench images", {figures.image: figures.figures()})
    typer.echo("of the full build: " + ", ".join(f"{stage} {took:g} s" for stage, took in figures.stages.items()))
    keep(json_file, figures.as_dict())
