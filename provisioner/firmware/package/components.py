"""Component images of a package's header: where they are, and whether that can be (DSP0267)."""

from dataclasses import dataclass

from provisioner.firmware.package.field_reader import FieldReader
from provisioner.firmware.package.finding import Findings, Severity
from provisioner.firmware.package.model import ComponentImage, Extent

ACTIVATIONS = (
    "automatic",
    "self-contained",
    "medium-specific reset",
    "system reboot",
    "DC power cycle",
    "AC power cycle",
)
"""Activation methods by their bits, the lowest first."""

_WITH_OPAQUE_DATA = 3
"""The first revision with opaque data."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where images may be. `strict`: not inside the header; public test packages of openbmc/libpldm are not so tidy."""

    header_bytes: int
    package_bytes: int
    strict: bool


def activations(component: ComponentImage) -> tuple[str, ...]:
    """What its maker asks for, in words; any one of them makes it run."""
    return tuple(name for bit, name in enumerate(ACTIVATIONS) if component.activation >> bit & 1)


def read_components(header: FieldReader, revision: int, bounds: Bounds) -> tuple[ComponentImage, ...]:
    """All of them. Raises `PackageError`."""
    count = header.number("component count", 2)
    found = tuple(_component(header, revision, bounds, f"component {number}") for number in range(count))
    _tell_overlaps(found, header.findings)
    return found


def _component(header: FieldReader, revision: int, bounds: Bounds, name: str) -> ComponentImage:
    classification = header.number(f"{name}, classification", 2)
    identifier = header.number(f"{name}, identifier", 2)
    stamp = header.number(f"{name}, comparison stamp", 4)
    options = header.number(f"{name}, options", 2)
    activation = _activation(header, name)
    image = _image(header, bounds, name)
    kind = header.number(f"{name}, version string type", 1)
    version = header.text(f"{name}, version string", kind, header.number(f"{name}, version string length", 1))
    opaque = None
    if revision >= _WITH_OPAQUE_DATA:
        opaque = header.skip(f"{name}, opaque data", header.number(f"{name}, opaque data length", 4))
    return ComponentImage(classification, identifier, stamp, options, activation, image, version, opaque)


def _activation(header: FieldReader, name: str) -> int:
    start = header.offset
    activation = header.number(f"{name}, requested activation method", 2)
    if activation >> len(ACTIVATIONS):
        said = f"{activation:#06x} has bits above 0x3f, which the standard reserves"
        header.refuse(f"{name}, requested activation method", said, start)
    return activation


def _image(header: FieldReader, bounds: Bounds, name: str) -> Extent:
    start = header.offset
    image = Extent(header.number(f"{name}, location offset", 4), header.number(f"{name}, size", 4))
    if image.end > bounds.package_bytes:
        said = f"it ends at byte {image.end}, and the package at {bounds.package_bytes}: the file may be cut short"
        header.refuse(f"{name}, image", said, start)
    if image.size_bytes == 0:
        header.findings.add(Severity.WARNING, f"{name}, size", start + 4, "the image is empty")
    elif image.offset < bounds.header_bytes:
        said = f"{image.offset} lies inside the header, which has {bounds.header_bytes} bytes"
        if bounds.strict:
            header.refuse(f"{name}, location offset", said, start)
        header.findings.add(Severity.WARNING, f"{name}, location offset", start, said)
    return image


def _tell_overlaps(components: tuple[ComponentImage, ...], findings: Findings) -> None:
    """One warning for each image that begins before those at lower offsets have ended."""
    placed = [(one.image.offset, one.image.end, number) for number, one in enumerate(components)]
    before: tuple[int, int] | None = None
    for offset, end, number in sorted(place for place in placed if place[0] < place[1]):
        if before and offset < before[0]:
            said = f"its image, bytes {offset} to {end}, overlaps that of component {before[1]}"
            findings.add(Severity.WARNING, f"component {number}", offset, said)
        before = max(before, (end, number)) if before else (end, number)
