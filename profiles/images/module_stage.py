"""Kernel modules that are built before the image: from which source, in which tree, into which package."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from profiles.compat.facts import CompatibilityFacts
from profiles.images.closure import Closure, close_over
from profiles.images.debian import DebianImage, kernel_abi
from profiles.images.driver_check import ImageReason, driver_version, refusal
from profiles.images.gpu import Gpu
from profiles.images.kinds import Delivery
from profiles.images.lock import LockedModules, locked_package
from profiles.images.package_index import Package, PackageIndex
from profiles.images.wanted import Wanted, pick
from profiles.yaml_source import FieldPath

MODULE_SOURCE: FieldPath = ("gpu", "packages", "module_source")
_COMPILER = "dkms"
_ONLY_FOR_BUILDING = re.compile(r"(dkms|make|gcc(-\d+)?|linux-headers(-\S+)?)(\s.*)?")


@dataclass(frozen=True, slots=True)
class ModuleStage:
    """`package` stands in the closure of the image for what the stage makes; it has no digest yet."""

    package: Package
    locked: LockedModules


def module_stage(
    image: DebianImage, index: PackageIndex, facts: CompatibilityFacts
) -> ModuleStage | tuple[ImageReason, ...]:
    """Return the stage, or every reason why there is none; no reasons where the image needs no stage."""
    abi = kernel_abi(image.kernel.package)
    driver = driver_version(image.gpu, facts) if image.gpu else None
    if image.gpu is None or image.gpu.driver.delivery is not Delivery.STAGE or abi is None or driver is None:
        return ()
    wanted = _wanted(image.gpu, abi, driver, image.kernel.version)
    found = [pick(one, index) for one in wanted]
    missing = tuple(one for one in found if isinstance(one, ImageReason))
    if missing:
        return missing
    source, *tools = (one for one in found if isinstance(one, Package))
    essential = {name: versions[0] for name, versions in index.items() if versions[0].essential}
    tree = close_over({**essential, **{one.name: one for one in tools}}, index, frozenset())
    if tree.unmet:
        return tuple(_unmet(one.package, one.clause) for one in tree.unmet)
    return _stage(image, source, tree)


def _stage(image: DebianImage, source: Package, tree: Closure) -> ModuleStage:
    package = _built(source, image)
    locked = LockedModules(
        package=package.name,
        version=package.version,
        depends=package.depends,
        provides=", ".join(_provided(package)),
        source=locked_package(source),
        tree=tuple(locked_package(one) for one in tree.packages.values()),
    )
    return ModuleStage(package, locked)


def module_package(image: DebianImage) -> str | None:
    """Return the name of the package that the stage makes; None where there is no stage."""
    source = image.gpu.packages.module_source if image.gpu else None
    return f"{source.removesuffix('-dkms')}-{kernel_abi(image.kernel.package)}" if source else None


def _wanted(gpu: Gpu, abi: str, driver: str, kernel: str | None) -> Iterator[Wanted]:
    """The source, and what compiles it: the headers of exactly this kernel."""
    if gpu.packages.module_source is not None:
        yield Wanted(gpu.packages.module_source, MODULE_SOURCE, upstream=driver)
    yield Wanted(f"linux-headers-{abi}", ("kernel", "package"), version=kernel)
    yield Wanted(_COMPILER, MODULE_SOURCE)


def _unmet(package: str, clause: str) -> ImageReason:
    text = f"the tree that modules are built in lacks something: {package} needs {clause}"
    return refusal(MODULE_SOURCE, "dependency-missing", text)


def _built(source: Package, image: DebianImage) -> Package:
    """The package of built modules: what the source needs and provides, without what compiles, for one kernel."""
    clauses = [one.strip() for one in source.depends.split(",") if one.strip()]
    kept = [one for one in clauses if not _ONLY_FOR_BUILDING.fullmatch(one.split("|")[0].strip())]
    kernel = f"{image.kernel.package} (= {image.kernel.version})"
    return Package(
        name=module_package(image) or source.name,
        version=source.version,
        arch=source.arch,
        sha256="",
        size_bytes=0,
        filename="",
        depends=", ".join([kernel, "kmod", *kept]),
        provides={name: version for name, version in source.provides.items() if _COMPILER not in name},
    )


def _provided(package: Package) -> Iterator[str]:
    for name, version in package.provides.items():
        yield f"{name} (= {version})" if version else name
