"""What can be wrong with the releases of one component, which a catalog lists oldest first."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from profiles.findings import did_you_mean
from profiles.firmware.component import ComponentFacts, FirmwareRelease, Scheme
from profiles.firmware.version_text import is_missing, normalise, segments
from profiles.problems import Problem


def release_problems(facts: ComponentFacts, releases: Sequence[FirmwareRelease]) -> Iterator[Problem]:
    """Yield every problem, at paths below the component."""
    yield from _wrong_versions(releases)
    yield from _wrong_steps(releases)
    yield from _wrong_stamps(releases)
    yield from _against_scheme(facts.scheme, releases)
    yield from _wrong_floor(facts, releases)


def rank_of(version: str, releases: Sequence[FirmwareRelease]) -> int | None:
    """The place of a version among the releases, 0 for the oldest; None when it is not listed."""
    wanted = normalise(version)
    return next((rank for rank, release in enumerate(releases) if normalise(release.version) == wanted), None)


def stepping_stones(version: str, releases: Sequence[FirmwareRelease]) -> tuple[FirmwareRelease, ...]:
    """The listed release of `version` and those that it requires, oldest first; nothing when it is not listed."""
    rank = rank_of(version, releases)
    if rank is None:
        return ()
    release = releases[rank]
    return (*(stepping_stones(release.requires, releases[:rank]) if release.requires else ()), release)


def nearest_version(version: str, releases: Sequence[FirmwareRelease]) -> str:
    """Words that name the listed version most like it, or all of them."""
    return did_you_mean(version, [release.version for release in releases])


def _wrong_versions(releases: Sequence[FirmwareRelease]) -> Iterator[Problem]:
    for rank, release in enumerate(releases):
        at = ("releases", rank, "version")
        first = rank_of(release.version, releases)
        if is_missing(release.version):
            yield Problem(at, f'"{release.version}" is what BMCs write for no version', "write the version itself")
        elif first is not None and first < rank:
            yield Problem(at, f'"{release.version}" is already releases[{first}]', "keep one of them")


def _wrong_steps(releases: Sequence[FirmwareRelease]) -> Iterator[Problem]:
    for rank, release in enumerate(releases):
        if release.requires is None:
            continue
        at = ("releases", rank, "requires")
        step = rank_of(release.requires, releases)
        if step is None:
            message = f'"{release.requires}" is not among the releases'
            yield Problem(at, message, nearest_version(release.requires, releases[:rank]) or "list it above")
        elif step >= rank:
            message = f'"{release.requires}" is not older than {release.version}'
            yield Problem(at, message, "releases are listed oldest first; a stepping stone comes before")


def _wrong_stamps(releases: Sequence[FirmwareRelease]) -> Iterator[Problem]:
    """DSP0267: a device compares stamps, so that a later release has no smaller one."""
    stamped = [(rank, one.comparison_stamp) for rank, one in enumerate(releases) if one.comparison_stamp is not None]
    for (older, low), (rank, high) in pairwise(stamped):
        if high < low:
            at = ("releases", rank, "comparison_stamp")
            yield Problem(at, f"is below that of {releases[older].version}", "releases are listed oldest first")


def _against_scheme(scheme: Scheme, releases: Sequence[FirmwareRelease]) -> Iterator[Problem]:
    """A rank that contradicts the scheme would make a version older than itself."""
    if scheme is Scheme.NONE:
        return
    read = [(rank, segments(release.version, scheme)) for rank, release in enumerate(releases)]
    for rank, numbers in read:
        if numbers is None:
            message = f'{scheme} cannot read "{releases[rank].version}"'
            yield Problem(("releases", rank, "version"), message, "correct the version, or write scheme: none")
    numbered = [(rank, numbers) for rank, numbers in read if numbers is not None]
    for index, (rank, numbers) in enumerate(numbered):
        above = [older for older, others in numbered[:index] if len(others) == len(numbers) and others > numbers]
        if above:
            message = f'"{releases[rank].version}" is older than {releases[above[0]].version} by {scheme}'
            yield Problem(("releases", rank, "version"), message, "list the oldest first, or write scheme: none")


def _wrong_floor(facts: ComponentFacts, releases: Sequence[FirmwareRelease]) -> Iterator[Problem]:
    if facts.floor is not None and rank_of(facts.floor, releases) is None:
        yield Problem(("floor",), f'"{facts.floor}" is not among the releases', nearest_version(facts.floor, releases))
