"""Firmware files as people read them in a terminal."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from provisioner.commands.console import bare_table, fields, plain
from provisioner.firmware.package.components import activations
from provisioner.firmware.package.descriptors import name_of, value_of
from provisioner.firmware.package.finding import PackageFinding, Severity
from provisioner.firmware.package.inspect import Inspection
from provisioner.firmware.package.model import Descriptor, PldmPackage

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "bright_black"}
_FORMS = {1: "1.0", 2: "1.1", 3: "1.2", 4: "1.3"}


def inspection_text(name: str, inspection: Inspection) -> RenderableType:
    """The file, what it holds, and what is odd about it."""
    head = fields(
        (
            ("file", name),
            ("form", inspection.what),
            ("size", f"{inspection.size_bytes} bytes"),
            ("sha256", inspection.sha256),
            ("version", inspection.version),
        )
    )
    package = inspection.package
    return Group(head, *(_package(package) if package else ()), *_findings(inspection.findings))


def _package(package: PldmPackage) -> Iterator[RenderableType]:
    payload = "" if package.payload_crc is None else f", payload {package.payload_crc:#010x}"
    yield fields(
        (
            ("package", f"{package.version}, DSP0267 {_FORMS[package.revision]}"),
            ("released", package.released.isoformat(" ") if package.released else None),
            ("header", f"{package.header_bytes} bytes"),
            ("crc", f"header {package.header_crc:#010x}{payload}, right"),
        )
    )
    yield from _records(package)
    yield from _components(package)
    for number, inner in package.inner:
        yield Text()
        yield plain(f"component {number} is a package itself:")
        yield from _package(inner)


def _records(package: PldmPackage) -> Iterator[RenderableType]:
    table = bare_table("for", "set version", "components", "descriptors", breaks=3)
    for device in package.devices:
        table.add_row("device", plain(device.set_version), _numbers(device.components), _said(device.descriptors))
    for behind in package.downstream:
        least = plain(f"from {behind.minimum_version}" if behind.minimum_version else "")
        table.add_row("device behind it", least, _numbers(behind.components), _said(behind.descriptors))
    if table.row_count:
        yield from (Text(), table)


def _components(package: PldmPackage) -> Iterator[RenderableType]:
    table = bare_table("component", "class", "id", "version", "stamp", "activation", "offset", "bytes", breaks=3)
    for number, one in enumerate(package.components):
        stamp = "" if one.stamp is None else f"{one.stamp:#010x}"
        place = str(one.image.offset), str(one.image.size_bytes)
        what = str(number), str(one.classification), str(one.identifier), plain(one.version)
        table.add_row(*what, stamp, " or ".join(activations(one)), *place)
    if table.row_count:
        yield from (Text(), table)


def _findings(findings: tuple[PackageFinding, ...]) -> Iterator[RenderableType]:
    if findings:
        yield Text()
    for one in findings:
        yield Text.assemble((one.severity, _COLOURS[one.severity]), plain(f" {one}"))


def _numbers(components: tuple[int, ...]) -> str:
    return ", ".join(map(str, components))


def _said(descriptors: tuple[Descriptor, ...]) -> Text:
    return plain(", ".join(f"{name_of(one.type)} {value_of(one)}" for one in descriptors))
