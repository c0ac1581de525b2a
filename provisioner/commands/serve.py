"""`firstlight serve`: the daemon."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from provisioner.logs import log_to
from provisioner.network_boot.readiness import lacks, refuse_lacks
from provisioner.serving import serve
from provisioner.settings import Environment, load_site
from provisioner.wiring import check


def serve_command(
    config: Annotated[Path, typer.Option("--config", "-c", help="site.yaml")] = Path("site.yaml"),
    log_format: Annotated[str, typer.Option(help="text or json")] = "text",
    check_only: Annotated[
        bool, typer.Option("--check", help="Read all files, say what is wrong, start nothing.")
    ] = False,
) -> None:
    """Run a site until SIGTERM or Ctrl-C."""
    log_to(as_json=log_format == "json")
    environment = Environment()
    checked = check(load_site(config, environment), config)
    if check_only:
        refuse_lacks(lacks(checked.site.network_boot, checked.site.url))
        typer.echo(f"{config}: good; {len(checked.expected)} nodes expected, {len(checked.catalog.releases)} releases")
        return
    asyncio.run(serve(checked, environment))
