"""`firstlight bench firmware`: what firmware files and updates cost."""

from enum import StrEnum
from typing import Annotated

import typer

from provisioner.bench import firmware_campaign, firmware_package, firmware_planning
from provisioner.bench.report import Json, keep, show


class Part(StrEnum):
    """What can be measured by itself."""

    PACKAGE = "package"
    CAMPAIGN = "campaign"
    PLANNING = "planning"


Parts = Annotated[list[Part] | None, typer.Option("--part", help="Only this; may be repeated. All where absent.")]
Mebibytes = Annotated[int, typer.Option(min=1, max=4096, help="Size of the package that is inspected.")]


Planned = Annotated[int, typer.Option(min=1, max=100_000, help="Servers that are planned.")]
Nodes = Annotated[int, typer.Option(min=1, max=2000, help="Emulated servers of the campaign.")]


def firmware_of(
    part: Parts = None,
    mebibytes: Mebibytes = 100,
    nodes: Nodes = 1000,
    planned: Planned = 10_000,
    json_file: Json = None,
) -> None:
    """Inspect a large PLDM package in a process of its own: digest, payload checksum, every field.

    Memory is how far the peak of that process lies above its start. The floor is SHA-256 and CRC-32 of the same bytes.

    A campaign brings emulated trays, durations at zero, through a bundle of five components to ready; one canary first.

    Planning compares servers of 40 component classes, no two alike, with a bundle: alone, as a pool, for compliance.
    """
    figures: dict[str, object] = {}
    if not part or Part.PACKAGE in part:
        package = firmware_package.measure(mebibytes)
        show("bench firmware: package", {f"{mebibytes} MiB": package.figures()})
        figures[Part.PACKAGE] = package.figures()
    if not part or Part.CAMPAIGN in part:
        campaign = firmware_campaign.measure(nodes)
        show("bench firmware: campaign", {f"{campaign.nodes} nodes": campaign.figures()})
        figures[Part.CAMPAIGN] = campaign.as_dict()
    if not part or Part.PLANNING in part:
        planning = firmware_planning.measure(planned)
        show("bench firmware: planning", {f"{planned} nodes": planning.figures()})
        figures[Part.PLANNING] = planning.figures()
    keep(json_file, figures)
