"""The packages that a profile names, and the versions of them that it takes."""

from collections.abc import Iterator
from dataclasses import dataclass

from profiles.compat.facts import CompatibilityFacts
from profiles.findings import did_you_mean
from profiles.images.debian import DebianImage
from profiles.images.debian_version import upstream
from profiles.images.driver_check import (
    FABRIC_MANAGER,
    IMEX,
    NVLSM,
    ImageReason,
    driver_version,
    fabric_components,
    refusal,
)
from profiles.images.package_index import Package, PackageIndex
from profiles.yaml_source import FieldPath


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package by name. `version`: the whole one; `upstream`: of the vendor, whatever the distribution appends."""

    name: str
    field: FieldPath
    version: str | None = None
    upstream: str | None = None


def wanted_packages(image: DebianImage, facts: CompatibilityFacts) -> Iterator[Wanted | ImageReason]:
    """Yield everything that the profile names, or a refusal where a component has no package to come from."""
    yield Wanted(image.kernel.package, ("kernel", "package"), version=image.kernel.version)
    yield from _of_driver(image, facts)
    for index, package in enumerate(image.packages.install):
        yield Wanted(package.name, ("packages", "install", index), version=package.version)


def pick(wanted: Wanted, index: PackageIndex) -> Package | ImageReason:
    """Return the newest package that fits, or why there is none."""
    found = index.get(wanted.name) or _providers(wanted.name, index)
    if not found:
        family = wanted.name.partition("-")[0] if "-" in wanted.name else wanted.name[:2]
        hint = did_you_mean(wanted.name, [name for name in index if name.startswith(family)])
        text = f"the package index has no {wanted.name}" + (f"; {hint}" if hint.startswith("did") else "")
        return refusal(wanted.field, "package-missing", text)
    for package in found:
        of_vendor = wanted.upstream is None or upstream(package.version) == wanted.upstream
        if of_vendor and wanted.version in (None, package.version):
            return package
    versions = ", ".join(package.version for package in found[:5])
    text = f"the package index has {wanted.name} {versions}, not {wanted.version or wanted.upstream}"
    return refusal(wanted.field, "version-missing", text)


def _of_driver(image: DebianImage, facts: CompatibilityFacts) -> Iterator[Wanted | ImageReason]:
    gpu = image.gpu
    driver = driver_version(gpu, facts) if gpu else None
    if gpu is None or driver is None:
        return
    at: FieldPath = ("gpu", "packages")
    for index, name in enumerate(gpu.packages.driver):
        yield Wanted(name, (*at, "driver", index), upstream=driver)
    named = {
        FABRIC_MANAGER: ("fabric_manager", gpu.packages.fabric_manager, driver),
        IMEX: ("imex", gpu.packages.imex, driver),
        NVLSM: ("nvlsm", gpu.packages.nvlsm, None),
    }
    for component in fabric_components(image, facts):
        if component not in named:
            continue
        field, package, version = named[component]
        if package is None:
            text = f"{', '.join(image.target.platforms)} needs {component}, and no package of it is named"
            yield refusal((*at, field), "package-not-named", text)
        else:
            yield Wanted(package, (*at, field), upstream=version)
    for field, package, version in (
        ("dcgm", gpu.packages.dcgm, gpu.dcgm),
        ("container_toolkit", gpu.packages.container_toolkit, gpu.container_toolkit),
    ):
        if package is not None and version is not None:
            yield Wanted(package, (*at, field), version=version)


def _providers(name: str, index: PackageIndex) -> tuple[Package, ...]:
    return tuple(package for found in index.values() for package in found[:1] if name in package.provides)
