"""One look at a firmware file: its form, its size and digest, and everything that a PLDM package says."""

from dataclasses import dataclass
from pathlib import Path

from provisioner.errors import PackageError
from provisioner.firmware.package.field_reader import REMEDY
from provisioner.firmware.package.finding import PackageFinding
from provisioner.firmware.package.kinds import Kind, recognise
from provisioner.firmware.package.model import PldmPackage
from provisioner.firmware.package.packages import read_package
from provisioner.firmware.package.source import Source, opened, sha256_of

_FWPKG = frozenset({Kind.PLDM, Kind.HPE_FWPKG})


@dataclass(frozen=True, slots=True)
class Inspection:
    """`package`: of a PLDM package. `version`: the one that another form tells, such as OpenBMC's MANIFEST."""

    kind: Kind
    what: str
    size_bytes: int
    sha256: str
    version: str | None = None
    package: PldmPackage | None = None

    @property
    def versions(self) -> tuple[str, ...]:
        """Every version that it names; none where its form tells none."""
        if self.package:
            return self.package.versions
        return (self.version,) if self.version else ()

    @property
    def findings(self) -> tuple[PackageFinding, ...]:
        """What is odd about it, and did not make it refused."""
        return self.package.findings if self.package else ()


def inspect(source: Source, *, strict: bool = False) -> Inspection:
    """Raises `PackageError` for what must not be sent. `strict`: also for an image that lies inside the header."""
    if source.size_bytes == 0:
        raise PackageError("file", 0, "it is empty", "copy it here again")
    found = recognise(source)
    if found.problem:
        raise PackageError(found.what, None, found.problem, "get the file from its maker again")
    package = read_package(source, strict=strict) if found.kind is Kind.PLDM else None
    return Inspection(found.kind, found.what, source.size_bytes, sha256_of(source), found.version, package)


def inspect_file(path: Path, *, strict: bool = False, name: str | None = None) -> Inspection:
    """The same for a file. Raises `BadInput` where it cannot be read; refuses a .fwpkg that is none of any maker.

    `name`: what it is called where it comes from; files in a store have none.
    """
    with opened(path) as source:
        inspection = inspect(source, strict=strict)
    if (name or path.name).casefold().endswith(".fwpkg") and inspection.kind not in _FWPKG:
        said = f"a .fwpkg is a PLDM package or HPE's ZIP archive with payload.json, and this is {inspection.kind}"
        raise PackageError("package header identifier", 0, said, REMEDY)
    return inspection
