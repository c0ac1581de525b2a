"""The command line: serve, fleet, firmware, faults."""

import logging
import sys
from pathlib import Path
from typing import Annotated

import structlog
import typer
import uvloop

from emulator.config import load_fleet
from emulator.errors import ConfigError
from emulator.faults.catalog import FAULTS
from emulator.fleet import Plan, Settings, invent, write_fleet
from emulator.options import with_faults
from emulator.package import write_packages

application = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


@application.command()
def serve(
    config: Annotated[Path, typer.Option(help="The fleet file.")],
    fault: Annotated[list[str] | None, typer.Option(help="BMC:FAULT[:argument=value,...], may be repeated.")] = None,
) -> None:
    """Be the BMCs of a fleet until SIGTERM."""
    from emulator.serving import serve as serve_fleet

    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # it calls half an answer an error of ours
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    uvloop.run(serve_fleet(with_faults(load_fleet(config), fault or [])))


@application.command()
def fleet(
    out: Annotated[Path, typer.Option(help="Folder for fleet.yaml and expected.yaml.")],
    racks: Annotated[int, typer.Option(min=1, max=255)] = 1,
    trays: Annotated[int, typer.Option(min=1, max=254)] = 8,
    persona: Annotated[str, typer.Option(help="One or several, separated by commas.")] = "hgx-h100",
    port: int = 8443,
    admin_port: int = 8444,
    speed: Annotated[float, typer.Option(min=0, help="Emulated seconds per second; 0: no waiting.")] = 60.0,
    boot_service: str = "http://127.0.0.1:8410",
    network: Annotated[str, typer.Option(help="The first two numbers of the addresses.")] = "127.20",
    seed: int = 1,
) -> None:
    """Invent a fleet: fleet.yaml for the emulator, expected.yaml and .csv for the product."""
    entries = invent(Plan(racks, trays, tuple(persona.split(",")), network, seed))
    write_fleet(entries, Settings(port, admin_port, speed, boot_service), out)
    typer.echo(f"{len(entries)} BMCs in {out / 'fleet.yaml'}")


@application.command()
def firmware(out: Annotated[Path, typer.Option(help="Folder for the package files.")]) -> None:
    """Write the firmware packages that the emulated BMCs accept."""
    for path in write_packages(out):
        typer.echo(path)


@application.command()
def faults() -> None:
    """List the faults, their arguments and where each was seen."""
    for fault in FAULTS:
        arguments = ", ".join(f"{name}={value!r}" for name, value in {"times": None, **fault.arguments}.items())
        typer.echo(f"{fault.name}\n    {fault.effect}\n    arguments: {arguments}\n    source: {fault.source}")


def main() -> None:
    """Run; a wrong file or option ends with status 2 and one message."""
    try:
        application()
    except ConfigError as error:
        typer.echo(f"firstlight-emulator: {error}", err=True)
        raise SystemExit(2) from error


if __name__ == "__main__":
    main()
