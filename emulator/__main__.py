"""The command line: serve, fleet, firmware, faults."""

from pathlib import Path
from typing import Annotated, Literal

import orjson
import typer
import uvloop

from emulator.config import AgentKind, FleetConfig, load_fleet
from emulator.errors import ConfigError, EmulatorError, writing_into
from emulator.fault_rates import with_fault_rates
from emulator.faults.listing import by_concern, described, lines
from emulator.fleet import Settings, fleet_of, invent, write_fleet
from emulator.kind import load_kind
from emulator.logs import configure_logs
from emulator.options import read_rates, with_faults
from emulator.package import write_packages
from emulator.persona.load import persona_names
from emulator.racks import Plan
from emulator.replay import recorded_bmcs, recorded_kind
from emulator.vm.command import vm

application = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)
application.command()(vm)


@application.command()
def serve(
    config: Annotated[Path, typer.Option(help="The fleet file.")],
    fault: Annotated[list[str] | None, typer.Option(help="BMC:FAULT[:argument=value,...], may be repeated.")] = None,
    agent: Annotated[AgentKind | None, typer.Option(help="What runs on booted hosts, whatever the file says.")] = None,
) -> None:
    """Be the BMCs of a fleet until SIGTERM."""
    loaded = load_fleet(config)
    _serve(with_faults(loaded.model_copy(update={"agent": agent}) if agent else loaded, fault or []))


@application.command()
def fleet(
    out: Annotated[Path | None, typer.Option(help="Folder for fleet.yaml and expected.yaml.")] = None,
    racks: Annotated[int, typer.Option(min=1)] = 1,
    trays: Annotated[int, typer.Option(min=1, help="In each rack; not with --layout nvl72.")] = 8,
    persona: Annotated[str, typer.Option(help="One or several, separated by commas.")] = "hgx-h100",
    layout: Annotated[str, typer.Option(help="plain, or nvl72: 18 compute and 9 switch trays a rack.")] = "plain",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8443,
    admin_port: Annotated[int, typer.Option(min=1, max=65535)] = 8444,
    speed: Annotated[float, typer.Option(min=0, help="Emulated seconds per second; 0: no waiting.")] = 60.0,
    boot_service: str = "http://127.0.0.1:8410",
    network: Annotated[str, typer.Option(help="The first two numbers of the first address.")] = "127.20",
    seed: int = 1,
    agent: Annotated[AgentKind, typer.Option(help="What runs on hosts that have booted.")] = "process",
    fault_rate: Annotated[
        list[str] | None, typer.Option(help="FAULT[:argument=value,...]=SHARE, such as silent=2%; may be repeated.")
    ] = None,
    memory_only: Annotated[  # noqa: FBT002  (a flag)
        bool, typer.Option("--memory-only", help="States are lost when the emulator ends.")
    ] = False,
    be_it: Annotated[  # noqa: FBT002  (a flag)
        bool, typer.Option("--serve", help="Be these BMCs at once; without --out nothing is written or kept.")
    ] = False,
) -> None:
    """Invent a fleet: fleet.yaml for the emulator, expected.yaml and .csv for the product, and NetBox's own."""
    entries = invent(Plan(racks, trays, tuple(persona.split(",")), network, seed, layout))
    state_dir = None if memory_only or out is None else Path("state")
    rates = read_rates(fault_rate or [])
    settings = Settings(port, admin_port, speed, boot_service, state_dir, seed, rates, agent)
    invented = fleet_of(entries, settings)
    with_fault_rates(invented)
    if out is not None:
        with writing_into(out):
            write_fleet(entries, settings, out)
        typer.echo(f"{len(entries)} BMCs in {out / 'fleet.yaml'}")
    if be_it:
        _serve(invented if out is None else load_fleet(out / "fleet.yaml"))
    elif out is None:
        raise ConfigError("fleet: give --out FOLDER for the files, or --serve to be these BMCs at once")


@application.command()
def replay(
    directory: Annotated[list[Path], typer.Argument(help="Recorded trees: folders that hold redfish/v1/index.json.")],
    network: Annotated[str, typer.Option(help="The first three numbers of the addresses.")] = "127.30.0",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 8443,
    admin_port: Annotated[int, typer.Option(min=1, max=65535)] = 8444,
    speed: Annotated[float, typer.Option(min=0, help="Emulated seconds per second; 0: no waiting.")] = 60.0,
    boot_service: str = "http://127.0.0.1:8410",
    power: Annotated[Literal["On", "Off"] | None, typer.Option(help="Else as it was recorded.")] = None,
) -> None:
    """Be the BMCs that were recorded; their power, boot, BIOS, tasks and firmware work. Nothing is kept."""
    bmcs = recorded_bmcs(directory, network, power)
    recorded = fleet_of(bmcs, Settings(port, admin_port, speed, boot_service, None))
    for bmc in bmcs:
        accounts = load_kind(bmc.persona).persona.accounts
        login = f"{accounts.username} {bmc.password(load_kind(bmc.persona).persona)}"
        typer.echo(f"{bmc.name}: https://{bmc.address}:{port} {login}")
    _serve(recorded)


@application.command()
def firmware(
    out: Annotated[Path, typer.Option(help="Folder for the package files.")],
    recorded: Annotated[list[Path] | None, typer.Option(help="For this recorded tree; may be repeated.")] = None,
) -> None:
    """Write the firmware packages that the emulated BMCs accept: all personas', or those of recorded trees."""
    names = [recorded_kind(directory) for directory in recorded or []] or persona_names()
    with writing_into(out):
        for path in write_packages(out, (load_kind(name).persona for name in names)):
            typer.echo(path)


@application.command()
def faults(
    word: Annotated[str, typer.Argument(help="Only faults with this in their name or effect.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,  # noqa: FBT002  (a flag)
) -> None:
    """List the faults, their arguments and where each was seen."""
    found = [(concern, fault) for concern, fault in by_concern() if word in fault.name or word in fault.effect]
    if not found:
        raise ConfigError(f"faults: none has '{word}' in its name or effect; without it all are listed")
    if as_json:
        typer.echo(orjson.dumps([described(*one) for one in found], option=orjson.OPT_INDENT_2).decode())
    else:
        typer.echo("\n".join(lines(found)))


def _serve(fleet: FleetConfig) -> None:
    from emulator.serving import serve as serve_fleet

    configure_logs()
    uvloop.run(serve_fleet(fleet))


def main() -> None:
    """Run; a wrong file or option ends with status 2 and one message."""
    try:
        application()
    except ConfigError as error:
        typer.echo(f"firstlight-emulator: {error}", err=True)
        raise SystemExit(2) from error
    except EmulatorError as error:
        typer.echo(f"firstlight-emulator: {error}", err=True)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
