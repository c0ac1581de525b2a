"""A package with the packages that are its components: NVIDIA's outer packages hold one for each device."""

from dataclasses import replace

from provisioner.errors import PackageError
from provisioner.firmware.package.finding import Findings, Severity
from provisioner.firmware.package.model import Extent, PldmPackage
from provisioner.firmware.package.pldm import IDENTIFIER_BYTES, read_pldm, revision_of
from provisioner.firmware.package.source import Source, Window

MOST_INNER = 64
MOST_INNER_HEADER_BYTES = 2**18


def read_package(source: Source, *, strict: bool = False) -> PldmPackage:
    """The package, and those inside it, one level deep. Raises `PackageError` for the first field that cannot be.

    Of inner packages, no more are read than `MOST_INNER`, and no more of their headers than `MOST_INNER_HEADER_BYTES`.
    """
    outer = read_pldm(source, strict=strict)
    findings = Findings()
    inner: list[tuple[int, PldmPackage]] = []
    header_bytes, summed_bytes = 0, 0
    for number, component in enumerate(outer.components):
        image = component.image
        if image.size_bytes < IDENTIFIER_BYTES or revision_of(source.read(image.offset, IDENTIFIER_BYTES)) is None:
            continue
        if len(inner) == MOST_INNER or header_bytes > MOST_INNER_HEADER_BYTES:
            findings.add(
                Severity.WARNING,
                f"component {number}",
                image.offset,
                "so many inner packages are not read; this is the first left out",
            )
            break
        summed_bytes += image.size_bytes
        package = _inner(source, number, component.image, strict=strict, sums=summed_bytes <= source.size_bytes)
        findings.extend(f"component {number}", image.offset, package.findings)
        inner.append((number, package))
        header_bytes += package.header_bytes
    return replace(outer, inner=tuple(inner), findings=(*outer.findings, *findings.all()))


def _inner(source: Source, number: int, image: Extent, *, strict: bool, sums: bool) -> PldmPackage:
    """`sums` is off once images overlap so much that summing them all would read more than the file."""
    try:
        return read_pldm(Window(source, image.offset, image.size_bytes), strict=strict, check_payload=sums)
    except PackageError as error:
        place = None if error.offset is None else image.offset + error.offset
        raise PackageError(f"component {number}, {error.field}", place, error.problem, error.remedy) from error
