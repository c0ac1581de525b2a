"""A bundle beside inventories: which parts belong to which class, and how each gets to its version. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import FirmwareComponent as Wanted
from profiles.firmware.component import FirmwareRelease
from provisioner import versions
from provisioner.models.inventory import FirmwareComponent
from provisioner.versions import Verdict


@dataclass(frozen=True, slots=True)
class Way:
    """From a reported version to the wanted one.

    `releases`: what has to be flashed, stepping stones first; empty where nothing has to be or may be. `irreversible`:
    one for each release, whether it takes the part over a line that it cannot go back over. `refusal`: what is wrong
    and what to do, to be read after the name of the part.
    """

    verdict: Verdict
    releases: tuple[FirmwareRelease, ...] = ()
    irreversible: tuple[bool, ...] = ()
    refusal: str = ""


class Classes:
    """The classes of a bundle. What was found out about a part or a version is kept, for the next of many nodes."""

    def __init__(self, bundle: FirmwareBundle) -> None:
        """`bundle` is resolved."""
        self.bundle = bundle
        self._of_part: dict[tuple[str, str], tuple[int, ...]] = {}
        self._ways: dict[tuple[int, str | None], Way] = {}

    def parts(self, inventory: Sequence[FirmwareComponent]) -> list[list[FirmwareComponent]]:
        """The parts of each class, classes in the order of the bundle and parts in that of the inventory.

        By class, never by id alone: ids differ per platform and may change with an update.
        """
        found: list[list[FirmwareComponent]] = [[] for _ in self.bundle.components]
        known = self._of_part
        for part in inventory:
            key = (part.id, part.name)
            indices = known.get(key)
            if indices is None:
                indices = known[key] = self._classes_of(part)
            for index in indices:
                found[index].append(part)
        return found

    def way(self, index: int, version: str | None) -> Way:
        """How a part of the class that reports `version` gets to the version of the bundle."""
        key = (index, version)
        found = self._ways.get(key)
        if found is None:
            found = self._ways[key] = _way(self.bundle, self.bundle.components[index], version)
        return found

    def _classes_of(self, part: FirmwareComponent) -> tuple[int, ...]:
        return tuple(index for index, wanted in enumerate(self.bundle.components) if _belongs(part, wanted))


def matching(wanted: Wanted, inventory: Sequence[FirmwareComponent]) -> tuple[FirmwareComponent, ...]:
    """The parts of the inventory that belong to the component class, in the order of the inventory."""
    return tuple(part for part in inventory if _belongs(part, wanted))


def at(wanted: Wanted, version: str) -> Wanted:
    """The class as if the bundle named another version: what a version is judged against."""
    return wanted if version == wanted.version else wanted.model_copy(update={"version": version})


def _belongs(part: FirmwareComponent, wanted: Wanted) -> bool:
    """Its id fits, and its name too where the catalog gives names: the ids of HPE are numbers that move."""
    return _fits(part.id, wanted.inventory) and (not wanted.names or _fits(part.name, wanted.names))


def _fits(said: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(said.strip().casefold(), glob.casefold()) for glob in globs)


def _way(bundle: FirmwareBundle, wanted: Wanted, version: str | None) -> Way:
    verdict = versions.verdict(version, wanted)
    if verdict is Verdict.EQUAL:
        return Way(verdict)
    if version is None or verdict is Verdict.MISSING:
        return Way(verdict, refusal="reports no version; see that it is there, then try again")
    refusal = _sealed(wanted, version) or _forbidden(bundle, wanted, version, verdict)
    if refusal:
        return Way(verdict, refusal=refusal)
    releases = _stones(wanted, version, verdict)
    if isinstance(releases, str):
        return Way(verdict, refusal=releases)
    return Way(verdict, releases, tuple(_seals(wanted, version, releases)))


def _sealed(wanted: Wanted, version: str) -> str:
    """A release that runs, or that was passed, lets the device refuse the wanted one (DSP0267 comparison stamps)."""
    names = [release.version for release in wanted.releases]
    newer = wanted.releases[names.index(wanted.version) + 1 :] if wanted.version in names else ()
    for release in newer:
        if release.irreversible and _reaches(wanted, version, release):
            return (
                f"runs {version}, and from {release.version} on the device refuses what is older: it cannot go to "
                f"{wanted.version}; name {release.version} or a newer one in the bundle"
            )
    return ""


def _reaches(wanted: Wanted, version: str, release: FirmwareRelease) -> bool:
    return versions.verdict(version, at(wanted, release.version)) in {Verdict.EQUAL, Verdict.NEWER}


def _forbidden(bundle: FirmwareBundle, wanted: Wanted, version: str, verdict: Verdict) -> str:
    if verdict is Verdict.NEWER and bundle.policy.newer == "refuse":
        return (
            f"runs {version}, newer than {wanted.version}; name {version} in the bundle, or write "
            "`policy: {newer: flash}` there to go back"
        )
    if verdict is Verdict.UNKNOWN and bundle.policy.unknown == "refuse":
        return (
            f"runs {version}, and nothing says whether {wanted.version} is newer; list {version} among the releases "
            "of the catalog, or write `policy: {unknown: flash}` in the bundle"
        )
    return ""


def _stones(wanted: Wanted, version: str, verdict: Verdict) -> tuple[FirmwareRelease, ...] | str:
    """What to flash, in order; or why there is no way.

    A part goes through the release that the next one requires, unless it is seen to have passed it.
    """
    known = {release.version: release for release in wanted.releases}
    release = known.get(wanted.version) or FirmwareRelease(version=wanted.version, artefact=wanted.artefact)
    way = [release]
    while release.requires is not None and verdict is not Verdict.NEWER:
        stone = known.get(release.requires)
        if stone is None or stone in way:
            return (
                f"runs {version}, and {release.version} needs {release.requires} first, which the catalog does not "
                "list as an older release; add it there"
            )
        if _reaches(wanted, version, stone):
            break
        way.insert(0, stone)
        release = stone
    return tuple(way)


def _seals(wanted: Wanted, version: str, releases: Sequence[FirmwareRelease]) -> list[bool]:
    """For each release to flash: a line lies between it and what ran before; so it is where nobody can tell."""
    names = [release.version for release in wanted.releases]
    sealed: list[bool] = []
    before = version
    for release in releases:
        up_to = wanted.releases[: names.index(release.version) + 1] if release.version in names else ()
        sealed.append(any(one.irreversible and not _reaches(wanted, before, one) for one in up_to))
        before = release.version
    return sealed
