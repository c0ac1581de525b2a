"""`firstlight bench firmware`: what firmware files and updates cost."""

from enum import StrEnum
from typing import Annotated

import typer

from provisioner.bench import firmware_package
from provisioner.bench.report import Json, keep, show


class Part(StrEnum):
    """What can be measured by itself."""

    PACKAGE = "package"


Parts = Annotated[list[Part] | None, typer.Option("--part", help="Only this; may be repeated. All where absent.")]
Mebibytes = Annotated[int, typer.Option(min=1, max=4096, help="Size of the package that is inspected.")]


def firmware_of(part: Parts = None, mebibytes: Mebibytes = 100, json_file: Json = None) -> None:
    """Inspect a large PLDM package in a process of its own: digest, payload checksum, every field.

    Memory is how far the peak of that process lies above its start. The floor is SHA-256 and CRC-32 of the same bytes.
    """
    figures: dict[str, object] = {}
    if not part or Part.PACKAGE in part:
        package = firmware_package.measure(mebibytes)
        show("bench firmware: package", {f"{mebibytes} MiB": package.figures()})
        figures[Part.PACKAGE] = package.figures()
    keep(json_file, figures)
