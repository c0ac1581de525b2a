"""Does the driver of an image fit its GPUs, kernel and programs? The compatibility rules, asked for each platform."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date

from profiles.compat.answers import Severity
from profiles.compat.asked import UnknownWordsError
from profiles.compat.facts import CompatibilityFacts, Platform
from profiles.compat.kinds import MemoryMode
from profiles.compat.setup import Component, Setup
from profiles.compatibility import check
from profiles.images.debian import DebianImage, kernel_abi
from profiles.images.gpu import Gpu
from profiles.images.kinds import CoherentMemory
from profiles.yaml_source import FieldPath

FABRIC_MANAGER, IMEX, NVLSM = "nvidia-fabricmanager", "nvidia-imex", "nvlsm"
_VERSION: FieldPath = ("gpu", "driver", "version")
_FIELDS: dict[str, FieldPath] = {
    "kernel": ("kernel", "package"),
    "gpu and driver": ("target", "gpus"),
    "gpu and toolkit": ("gpu", "cuda", "versions"),
    "toolkit and driver": ("gpu", "cuda", "versions"),
    "kernel modules": ("gpu", "driver", "modules"),
    "open modules": ("gpu", "uses"),
    "gsp firmware": ("gpu", "module_params"),
    "platform": ("target", "platforms"),
    "lockstep": ("gpu", "packages", "nvlsm"),
    "memory mode": ("gpu", "memory_mode"),
    "dcgm": ("gpu", "dcgm"),
    "gpudirect storage": ("gpu", "uses"),
    "peer memory": ("gpu", "uses"),
}
_WORDS: dict[str | int, FieldPath] = {
    "gpus": ("target", "gpus"),
    "cuda": ("gpu", "cuda", "versions"),
    "platform": ("target", "platforms"),
    "kernel": ("kernel", "package"),
}


@dataclass(frozen=True, slots=True, order=True)
class ImageReason:
    """Why an image is not ok, and the field of the profile that says so. `sources`: titles of public documents."""

    field: FieldPath
    severity: Severity
    name: str
    text: str
    sources: tuple[str, ...] = ()


def check_driver(
    image: DebianImage, facts: CompatibilityFacts, on: date, versions: Mapping[str, str]
) -> tuple[ImageReason, ...]:
    """Return every reason, in the order of the fields; none where all is well or there is no driver.

    `versions` are those of a package index, by component, for what does not have the driver's version.
    """
    if image.gpu is None:
        return ()
    reasons = set(_unsettled(image.gpu, image, facts, versions))
    for setup in _setups(image, image.gpu, facts, versions):
        reasons |= set(_ask(setup, facts, on))
    return tuple(sorted(reasons, key=lambda one: (list(map(str, one.field)), one.name, one.text)))


def driver_version(gpu: Gpu, facts: CompatibilityFacts) -> str | None:
    """The version that is written, else the newest known of the branch; None where none is known."""
    if gpu.driver.version is not None:
        return gpu.driver.version
    branches = {str(one.branch): one for one in facts.driver_branches}
    branch = branches.get(gpu.driver.branch)
    newest = (branch.last_seen or branch.first_seen) if branch else None
    return newest.version if newest else None


def fabric_components(image: DebianImage, facts: CompatibilityFacts) -> tuple[str, ...]:
    """What the platforms of the image need, except what the profile leaves out, sorted."""
    if image.gpu is None:
        return ()
    wishes = {FABRIC_MANAGER: image.gpu.fabric_manager, IMEX: image.gpu.imex, NVLSM: image.gpu.nvlsm}
    needed = {name for platform in _platforms(image, facts) for name in platform.needs}
    return tuple(sorted(name for name in needed if wishes.get(name) != "absent"))


def _platforms(image: DebianImage, facts: CompatibilityFacts) -> list[Platform]:
    return [one for one in facts.platforms if one.name in image.target.platforms]


def _unsettled(
    gpu: Gpu, image: DebianImage, facts: CompatibilityFacts, versions: Mapping[str, str]
) -> Iterator[ImageReason]:
    """What has to be known before the rules can be asked, or cannot be known without an index."""
    waived = {one.name for one in image.waive}
    if driver_version(gpu, facts) is None:
        text = f"no version of R{gpu.driver.branch} is known"
        yield ImageReason(("gpu", "driver", "branch"), Severity.REFUSAL, "driver-version-unknown", text)
    if NVLSM in fabric_components(image, facts) and NVLSM not in versions and "nvlsm-version-unknown" not in waived:
        text = "which version of nvlsm comes with it is for the package index to say"
        yield ImageReason(("gpu", "nvlsm"), Severity.UNKNOWN, "nvlsm-version-unknown", text)


def _setups(image: DebianImage, gpu: Gpu, facts: CompatibilityFacts, versions: Mapping[str, str]) -> Iterator[Setup]:
    """One question for each platform with the GPUs that may be on it, and one for GPUs that are on none of them."""
    driver = driver_version(gpu, facts)
    if driver is None:
        return
    names = fabric_components(image, facts)
    components = [Component(name, versions.get(name, driver)) for name in names]
    if gpu.dcgm is not None:
        components.append(Component("dcgm", gpu.dcgm.rpartition(":")[2]))
    whole = Setup(
        driver=driver,
        gpus=image.target.gpus,
        cuda=gpu.cuda.versions if gpu.cuda else (),
        modules=gpu.driver.modules,
        components=tuple(components),
        memory_mode=None if gpu.memory_mode is CoherentMemory.NOT_APPLICABLE else MemoryMode(gpu.memory_mode),
        gsp_firmware=gpu.module_params.get(facts.gsp_firmware.parameter) != "0",
        kernel=kernel_abi(image.kernel.package),
        uses=frozenset(gpu.uses),
        waived=frozenset(one.name for one in image.waive),
    )
    for platform, gpus in _placed(image, facts):
        yield replace(whole, platform=platform, gpus=gpus)


def _placed(image: DebianImage, facts: CompatibilityFacts) -> Iterator[tuple[str | None, tuple[str, ...]]]:
    models = {one.name for one in facts.gpus.list}
    known = {one.name: one.gpus for one in facts.platforms}
    left = dict.fromkeys(image.target.gpus)
    for platform in image.target.platforms:
        on = known.get(platform)
        gpus = tuple(one for one in image.target.gpus if on is None or one in on or one not in models)
        left = {one: None for one in left if one not in gpus}
        yield platform, gpus or image.target.gpus
    if left:
        yield next(iter(image.target.platforms), None), tuple(left)


def _ask(setup: Setup, facts: CompatibilityFacts, on: date) -> Iterator[ImageReason]:
    try:
        verdict = check(setup, facts, on)
    except UnknownWordsError as error:
        for problem in error.problems:
            text = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
            yield ImageReason(_WORDS.get(problem.at[0], _VERSION), Severity.REFUSAL, "word-unknown", text)
        return
    for reason in verdict.reasons:
        sources = tuple(f"{source.title}, {source.url}" for source in reason.sources)
        yield ImageReason(_FIELDS.get(reason.rule, _VERSION), reason.severity, reason.name, reason.text, sources)


def refusal(field: FieldPath, name: str, text: str) -> ImageReason:
    """A reason that nothing but a change can help."""
    return ImageReason(field, Severity.REFUSAL, name, text)
