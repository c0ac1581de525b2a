"""From a profile and what a mirror offers to a lock, or to every reason why not. Pure: no network, no clock."""

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime

from profiles.compat.facts import CompatibilityFacts
from profiles.images.closure import Closure, close_over
from profiles.images.debian import KERNEL_PREFIX, DebianImage, kernel_abi
from profiles.images.debian_version import upstream
from profiles.images.driver_check import (
    FABRIC_MANAGER,
    IMEX,
    NVLSM,
    ImageReason,
    check_driver,
    driver_version,
    fabric_components,
    refusal,
)
from profiles.images.egress import egress_ruleset
from profiles.images.kinds import Delivery
from profiles.images.lock import (
    Lock,
    LockedDriver,
    LockedKernel,
    LockedModules,
    locked_package,
    profile_content,
    profile_digest,
)
from profiles.images.module_stage import MODULE_SOURCE, ModuleStage, module_package, module_stage
from profiles.images.package_index import Package, PackageIndex
from profiles.images.policy import FORBIDDEN_PACKAGES
from profiles.images.wanted import Wanted, pick, wanted_packages
from profiles.models import Arch

DEBIAN_ARCH = {Arch.X86_64: "amd64", Arch.ARM64: "arm64"}
_ABI = re.compile(r"\d+\.\d+\.\d+[a-z0-9.+-]*?-(?:amd64|arm64)\b")


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing can be built. `reasons` is never empty and in the order of the profile's fields."""

    reasons: tuple[ImageReason, ...]


def resolve(
    image: DebianImage,
    index: PackageIndex,
    facts: CompatibilityFacts,
    on: date,
    *,
    keys: Collection[str] = (),
    certificates: Mapping[str, str] | None = None,
) -> Lock | Refused:
    """Choose every package; `on` is the day for which the driver's support is judged.

    `keys`: fingerprints of the keys that signed the index. `certificates`: of the site's signing keys (PEM), by name;
    None where there is no site to ask.
    """
    offered = _for_arch(index, DEBIAN_ARCH[image.arch])
    if not any(one.arch != "all" for found in offered.values() for one in found):
        text = f"the package index has nothing for {DEBIAN_ARCH[image.arch]}"
        return Refused((refusal(("arch",), "architecture-missing", text), *check_driver(image, facts, on, {})))
    picked: dict[str, Package] = {}
    reasons: list[ImageReason] = []
    for one in wanted_packages(image, facts):
        found = pick(one, offered) if isinstance(one, Wanted) else one
        if isinstance(found, Package):
            picked[found.name] = found
        else:
            reasons.append(found)
    stage = module_stage(image, offered, facts)
    if isinstance(stage, ModuleStage):
        picked[stage.package.name] = stage.package
    else:
        reasons += stage
    essential = {name: found[0] for name, found in offered.items() if found[0].essential}
    closure = close_over({**essential, **picked}, offered, frozenset(image.packages.remove))
    reasons += [*_unmet(image, closure), *_kernels(image, closure), *_unwelcome(image, closure)]
    reasons += [*_modules(image, closure), *_sign_key(image, certificates)]
    reasons += [*check_driver(image, facts, on, _versions(image, closure))]
    if reasons:
        return Refused(tuple(sorted(set(reasons), key=lambda one: (list(map(str, one.field)), one.name, one.text))))
    modules = stage.locked if isinstance(stage, ModuleStage) else None
    return _lock(image, closure, _driver(image, closure, facts, certificates), modules, tuple(sorted(set(keys))))


def _for_arch(index: PackageIndex, arch: str) -> PackageIndex:
    fitting = {name: tuple(one for one in found if one.arch in (arch, "all")) for name, found in index.items()}
    return {name: found for name, found in fitting.items() if found}


def _unmet(image: DebianImage, closure: Closure) -> Iterator[ImageReason]:
    for one in closure.unmet:
        instead = f"{one.present} is chosen" if one.present else "the package index has none that fits"
        text = f"{one.package} needs {one.clause}; {instead}"
        yield refusal(_asked_by(image, closure, one.package), "dependency-missing", text)


def _kernels(image: DebianImage, closure: Closure) -> Iterator[ImageReason]:
    """The kernel that was asked for, or what it depends on, and no other."""
    kernels = _kernel_packages(closure)
    wanted = image.kernel.package
    if len(kernels) > 1:
        brought = [f"{name} (by {closure.needed_by[name]})" if name in closure.needed_by else name for name in kernels]
        yield refusal(("kernel", "package"), "two-kernels", f"more than one kernel: {', '.join(brought)}")
    elif not kernels and wanted in closure.packages:
        yield refusal(("kernel", "package"), "kernel-missing", f"{wanted} brings no {KERNEL_PREFIX}VERSION with it")


def _unwelcome(image: DebianImage, closure: Closure) -> Iterator[ImageReason]:
    for name in closure.packages:
        if name in FORBIDDEN_PACKAGES:
            by = closure.needed_by.get(name, "itself")
            text = f"{name} {FORBIDDEN_PACKAGES[name]}; {by} brings it"
            yield refusal(_asked_by(image, closure, name), "package-forbidden", text)


def _modules(image: DebianImage, closure: Closure) -> Iterator[ImageReason]:
    """Built modules say in their name or dependencies which kernel they are for, and it is this one."""
    abi = kernel_abi(image.kernel.package)
    if image.gpu is None or image.gpu.driver.delivery is not Delivery.PREBUILT or abi is None:
        return
    packages = [closure.packages[name] for name in image.gpu.packages.driver if name in closure.packages]
    if len(packages) < len(image.gpu.packages.driver):
        return
    built_for = {found: one for one in packages for found in _ABI.findall(f"{one.name} {one.depends}")}
    field = ("gpu", "packages", "driver")
    for other, package in built_for.items():
        if other != abi:
            text = f"{package.name} {package.version} holds modules for {other}; the kernel is {abi}"
            yield refusal(field, "modules-for-other-kernel", text)
    if not built_for:
        text = f"none of {', '.join(one.name for one in packages)} says for which kernel its modules are built"
        yield refusal(field, "modules-for-no-kernel", text)


def _versions(image: DebianImage, closure: Closure) -> Mapping[str, str]:
    """What the index says of components that have versions of their own."""
    name = image.gpu.packages.nvlsm if image.gpu else None
    found = closure.packages.get(name) if name else None
    return {NVLSM: upstream(found.version)} if found else {}


def _sign_key(image: DebianImage, certificates: Mapping[str, str] | None) -> Iterator[ImageReason]:
    name = image.gpu.driver.sign_key if image.gpu else None
    if name is not None and certificates is not None and name not in certificates:
        known = f"it has {', '.join(sorted(certificates))}" if certificates else "it has none"
        text = f"the site has no signing key {name}; {known}: name it under signing_keys of site.yaml"
        yield refusal(("gpu", "driver", "sign_key"), "sign-key-missing", text)


def _lock(
    image: DebianImage,
    closure: Closure,
    driver: LockedDriver | None,
    modules: LockedModules | None,
    keys: tuple[str, ...],
) -> Lock:
    (kernel,) = _kernel_packages(closure)
    return Lock(
        image=image.name,
        arch=image.arch.value,
        profile=profile_content(image),
        profile_digest=profile_digest(image),
        epoch=int(datetime.fromisoformat(image.base.snapshot).timestamp()),
        kernel=LockedKernel(kernel, closure.packages[kernel].version, kernel.removeprefix(KERNEL_PREFIX)),
        driver=driver,
        keyring_sha256=image.base.keyring_sha256,
        egress_sha256=hashlib.sha256(egress_ruleset(image).encode()).hexdigest(),
        keys=keys,
        packages=tuple(locked_package(one) for one in closure.packages.values() if not _is_built(one, modules)),
        modules=modules,
    )


def _driver(
    image: DebianImage, closure: Closure, facts: CompatibilityFacts, certificates: Mapping[str, str] | None
) -> LockedDriver | None:
    version = driver_version(image.gpu, facts) if image.gpu else None
    if image.gpu is None or version is None:
        return None
    named = image.gpu.packages
    packages = {FABRIC_MANAGER: named.fabric_manager, IMEX: named.imex, NVLSM: named.nvlsm}
    needed = [(component, packages.get(component)) for component in fabric_components(image, facts)]
    components = {component: closure.packages[name].version for component, name in needed if name}
    certificate = (certificates or {}).get(image.gpu.driver.sign_key or "")
    return LockedDriver(version, components, image.gpu.module_options, certificate)


def _is_built(one: Package, modules: LockedModules | None) -> bool:
    """The package of the stage is in no mirror."""
    return modules is not None and one.name == modules.package


def _kernel_packages(closure: Closure) -> list[str]:
    return [name for name in closure.packages if name.startswith(KERNEL_PREFIX) and kernel_abi(name)]


def _asked_by(image: DebianImage, closure: Closure, name: str) -> tuple[str | int, ...]:
    """The field of the profile that, through dependencies, brings the package."""
    while name in closure.needed_by:
        name = closure.needed_by[name]
    if name == image.kernel.package:
        return ("kernel", "package")
    if name == module_package(image):
        return MODULE_SOURCE
    if image.gpu and name in image.gpu.packages.driver:
        return ("gpu", "packages", "driver", image.gpu.packages.driver.index(name))
    installed = [package.name for package in image.packages.install]
    return ("packages", "install", installed.index(name)) if name in installed else ("packages",)
