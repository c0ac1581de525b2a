"""Do the parts of a release go together, and with the hardware that it is for? Pure; everything is said at once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from profiles.compat.answers import Severity
from profiles.compat.facts import CompatibilityFacts
from profiles.images.debian import DebianImage
from profiles.images.driver_check import check_driver
from profiles.release import Release
from profiles.yaml_source import dotted

_BETWEEN_WORDS = re.compile(r"[^a-z0-9?\[\]!]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class ReleaseReason:
    """One thing. `field`: of the release, such as `image`; `name` is the same for the same thing always."""

    field: str
    severity: Severity
    name: str
    text: str


def check_release(release: Release, facts: CompatibilityFacts, on: date) -> tuple[ReleaseReason, ...]:
    """Refusals, unknowns and findings on one day; none where all is well."""
    return (*_parts(release), *_targets(release), *_driver(release, facts, on))


def refusals(reasons: tuple[ReleaseReason, ...]) -> tuple[ReleaseReason, ...]:
    """What nothing but another release can help."""
    return tuple(one for one in reasons if one.severity is Severity.REFUSAL)


def _parts(release: Release) -> Iterator[ReleaseReason]:
    hardware = release.hardware_class
    for field, part in (("firmware", release.firmware), ("bios", release.bios)):
        if part.hardware_class != hardware.name:
            text = f"{part.name} is for {part.hardware_class}, the release is for {hardware.name}"
            yield _refusal(field, "other-hardware-class", text)
    if release.image.arch != hardware.match.arch:
        text = f"{release.image.name} is for {release.image.arch}, {hardware.name} is {hardware.match.arch}"
        yield _refusal("image", "other-architecture", text)


def _targets(release: Release) -> Iterator[ReleaseReason]:
    """An image with a driver is for certain GPUs; those of the hardware class have to be among them."""
    image, patterns = release.image, release.hardware_class.match.gpu_model
    if not isinstance(image, DebianImage) or image.gpu is None:
        return
    if not patterns:
        text = f"{image.name} has a driver, and {release.hardware_class.name} has no GPUs"
        yield _refusal("image", "no-gpus", text)
    elif not any(_is_named(gpu, one) for gpu in image.target.gpus for one in patterns):
        text = f"{image.name} is for {', '.join(image.target.gpus)}, and GPUs of the class are {', '.join(patterns)}"
        yield _refusal("image", "other-gpus", text)


def _is_named(gpu: str, pattern: str) -> bool:
    """A glob over what BMCs say names a GPU by one of its words: `*A100-SXM4*` names A100, `*B200*` is not GB200."""
    words = [word for word in _BETWEEN_WORDS.split(pattern.casefold()) if word]
    return not words or any(fnmatchcase(gpu.casefold(), word) for word in words)


def _driver(release: Release, facts: CompatibilityFacts, on: date) -> Iterator[ReleaseReason]:
    if not isinstance(release.image, DebianImage):
        return
    for one in check_driver(release.image, facts, on, {}):
        text = f"{release.image.name}, {dotted(one.field)}: {one.text}"
        yield ReleaseReason("image", one.severity, one.name, text)


def _refusal(field: str, name: str, text: str) -> ReleaseReason:
    return ReleaseReason(field, Severity.REFUSAL, name, text)
