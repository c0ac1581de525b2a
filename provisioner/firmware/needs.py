"""What the parts of a server need to run a bundle, and every reason why that cannot be done. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from profiles.firmware.component import FirmwareComponent as Wanted
from profiles.firmware.component import FirmwareRelease
from provisioner.firmware.classes import Classes, Way
from provisioner.models.inventory import FirmwareComponent


@dataclass(frozen=True, slots=True)
class Need:
    """One release for all parts of one class that have to take it. `index`: of the class, in the bundle."""

    index: int
    wanted: Wanted
    release: FirmwareRelease
    parts: tuple[FirmwareComponent, ...]
    irreversible: bool

    @property
    def shared(self) -> tuple[str, str] | None:
        """Equal for needs that one file meets with one update; None where each part is a target of its own."""
        if self.wanted.targets == "parts":
            return None
        return self.release.artefact.sha256, repr(self.wanted.targets)


def needs_of(classes: Classes, inventory: Sequence[FirmwareComponent]) -> tuple[list[Need], list[str]]:
    """In the order of the bundle, the stepping stones of a class first; and the refusals.

    A part that is refused is in no need: it is never flashed. So is one that reports no version.
    """
    found: list[Need] = []
    refusals: list[str] = []
    by_class = classes.parts(inventory)
    for index, parts in enumerate(by_class):
        wanted = classes.bundle.components[index]
        if not parts:
            refusals.append(
                f"{wanted.component}: no part in the inventory has an id like {' or '.join(wanted.inventory)}"
                f"{' and a name like ' + ' or '.join(wanted.names) if wanted.names else ''}; "
                "see that the part is there, or correct the catalog"
            )
        going: list[tuple[FirmwareComponent, Way]] = []
        stuck: dict[str, list[str]] = {}
        for part in parts:
            way = classes.way(index, part.version)
            reason = way.refusal or (_locked(wanted, part) if way.releases else "")
            if reason:
                stuck.setdefault(reason, []).append(part.id)
            elif way.releases:
                going.append((part, way))
        refusals += [f"{wanted.component}: {', '.join(ids)}: {reason}" for reason, ids in stuck.items()]
        found += _needs(index, wanted, going)
    refusals += _taken_back(classes, by_class, found)
    return found, refusals


def _locked(wanted: Wanted, part: FirmwareComponent) -> str:
    """Parts that only a group can update say that they are not updateable; their catalog names the group."""
    if part.write_protected:
        return f"runs {part.version}, not {wanted.version}, and is write-protected; lift that, then try again"
    if not part.updateable and wanted.targets == "parts":
        return (
            f"runs {part.version}, not {wanted.version}, and cannot be updated through this BMC; name the targets of "
            "its group in the catalog, or leave it out of the bundle"
        )
    return ""


def _needs(index: int, wanted: Wanted, going: Sequence[tuple[FirmwareComponent, Way]]) -> Iterator[Need]:
    """The way of each part is the end of the longest one."""
    if not going:
        return
    for release in max((way.releases for _, way in going), key=len):
        taking = [(part, way) for part, way in going if release in way.releases]
        yield Need(
            index=index,
            wanted=wanted,
            release=release,
            parts=tuple(part for part, _ in taking),
            irreversible=any(way.irreversible[way.releases.index(release)] for _, way in taking),
        )


def _taken_back(
    classes: Classes, by_class: Sequence[Sequence[FirmwareComponent]], needs: Sequence[Need]
) -> Iterator[str]:
    """A stepping stone that a whole group gets would take those back that have passed it."""
    going = {(need.shared, need.index): {part.uri for part in need.parts} for need in needs}
    stones = {need.shared: need for need in needs if need.shared and need.release.version != need.wanted.version}
    for shared, stone in stones.items():
        for index, wanted in enumerate(classes.bundle.components):
            files = {release.artefact.sha256 for release in wanted.releases}
            if wanted.targets != stone.wanted.targets or stone.release.artefact.sha256 not in files:
                continue
            passed = [part.id for part in by_class[index] if part.uri not in going.get((shared, index), set())]
            if passed:
                yield (
                    f"{wanted.component}: {', '.join(passed)}: would be taken back by {stone.release.artefact.file}, "
                    f"which {stone.wanted.component} needs first and which goes to all of them; bring the parts that "
                    "are behind there one by one"
                )
