"""Does what a node reports match its bundle? The one judge, for pools and for the drift watch. Pure.

By class and version, never by inventory id: ids change with an update.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from profiles.firmware.component import FirmwareComponent as Wanted
from provisioner import versions
from provisioner.firmware.classes import Classes, at
from provisioner.models.inventory import FirmwareComponent
from provisioner.versions import Verdict

NO_VERSION = "no version"


@dataclass(frozen=True, slots=True)
class Reported:
    """What one reported version means.

    `key`: normalised, of what the catalog extracts; None where there is none. `text`: as the catalog would write it.
    `below_floor`: older than the floor of the catalog: urgent.
    """

    key: str | None
    text: str
    verdict: Verdict
    below_floor: bool = False


@dataclass(frozen=True, slots=True)
class ClassInNode:
    """One component class in one node. `reported`: each version once, in the order of the inventory.

    `mixed`: its parts tell different versions. `unknown`: a part tells none, or there is no part.
    """

    wanted: Wanted
    parts: int
    reported: tuple[Reported, ...]
    mixed: bool
    unknown: bool
    below_floor: bool


class Judge:
    """Judges nodes of one bundle. What was found out about versions is kept, for the next of many nodes."""

    def __init__(self, classes: Classes) -> None:
        """`classes` are those of the bundle."""
        self._classes = classes
        self._reported: dict[tuple[int, str | None], Reported] = {}
        self._known: dict[tuple[int, tuple[str | None, ...]], ClassInNode] = {}

    def of_inventory(self, inventory: Sequence[FirmwareComponent]) -> list[ClassInNode]:
        """Each class of the bundle, in its order, as an inventory tells it."""
        parts = self._classes.parts(inventory)
        return [self.of_class(index, tuple([part.version for part in found])) for index, found in enumerate(parts)]

    def of_class(self, index: int, told: tuple[str | None, ...]) -> ClassInNode:
        """The class of the bundle with this index, of whose parts each tells one of these versions."""
        key = (index, told)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._look(index, told)
        return found

    def _look(self, index: int, told: tuple[str | None, ...]) -> ClassInNode:
        seen: dict[str | None, Reported] = {}
        for version in told:
            one = self._mean(index, version)
            seen.setdefault(one.key, one)
        return ClassInNode(
            wanted=self._classes.bundle.components[index],
            parts=len(told),
            reported=tuple(seen.values()),
            mixed=len(seen.keys() - {None}) > 1,
            unknown=not seen or None in seen,
            below_floor=any(one.below_floor for one in seen.values()),
        )

    def _mean(self, index: int, version: str | None) -> Reported:
        key = (index, version)
        found = self._reported.get(key)
        if found is None:
            found = self._reported[key] = _reported(self._classes.bundle.components[index], version)
        return found


def _reported(wanted: Wanted, version: str | None) -> Reported:
    verdict = versions.verdict(version, wanted)
    if version is None or verdict is Verdict.MISSING:
        return Reported(None, NO_VERSION, Verdict.MISSING)
    running = versions.extract(version, wanted.extract)
    text = wanted.version if verdict is Verdict.EQUAL else " ".join(running.replace("\0", " ").split())
    below = wanted.floor is not None and versions.verdict(version, at(wanted, wanted.floor)) is Verdict.OLDER
    return Reported(versions.normalise(running), text, verdict, below)
