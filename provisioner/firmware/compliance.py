"""What a pool runs beside its bundle. Pure.

By class and version, never by inventory id: ids change with an update.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import FirmwareComponent as Wanted
from provisioner import versions
from provisioner.firmware.classes import Classes, at
from provisioner.models.identifiers import NodeName
from provisioner.models.inventory import FirmwareComponent
from provisioner.versions import Verdict


@dataclass(frozen=True, slots=True)
class VersionCount:
    """How many nodes have a part of the class that runs it. `version` is normalised, and what the catalog extracts."""

    version: str
    nodes: int
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class ClassCompliance:
    """One component class in a pool. Names are in the order of the nodes."""

    component: str
    wanted: str
    nodes: int
    versions: tuple[VersionCount, ...]
    """Most nodes first."""
    mixed: tuple[NodeName, ...]
    """Different versions inside one node."""
    unknown: tuple[NodeName, ...]
    """A part without a version, or no part of the class."""
    uneven: tuple[NodeName, ...]
    """Another number of parts than most nodes have."""
    below_floor: tuple[NodeName, ...]
    """A part older than the floor of the catalog: urgent."""

    @property
    def uniform(self) -> bool:
        """All parts of all nodes run one version, the wanted one or not, and every node has as many of them."""
        return len(self.versions) <= 1 and not self.unknown and not self.uneven

    @property
    def compliant(self) -> bool:
        """Uniform, and at the wanted version."""
        return self.uniform and all(one.verdict is Verdict.EQUAL for one in self.versions)


def compliance(
    bundle: FirmwareBundle, inventories: Mapping[NodeName, Sequence[FirmwareComponent]]
) -> tuple[ClassCompliance, ...]:
    """One entry for each class, in the order of the bundle."""
    classes = Classes(bundle)
    tallies = [_Tally(wanted) for wanted in bundle.components]
    for node, inventory in inventories.items():
        for tally, parts in zip(tallies, classes.parts(inventory), strict=True):
            tally.add(node, parts)
    return tuple(tally.result() for tally in tallies)


@dataclass(frozen=True, slots=True)
class _Reported:
    """What a reported version means. `version`: None where there is none."""

    version: str | None
    verdict: Verdict
    below: bool


@dataclass(slots=True)
class _Tally:
    """What was seen of one class so far."""

    wanted: Wanted
    known: dict[str | None, _Reported] = field(default_factory=dict)
    versions: Counter[str] = field(default_factory=Counter)
    parts: dict[NodeName, int] = field(default_factory=dict)
    mixed: list[NodeName] = field(default_factory=list)
    unknown: list[NodeName] = field(default_factory=list)
    below: list[NodeName] = field(default_factory=list)

    def add(self, node: NodeName, parts: Sequence[FirmwareComponent]) -> None:
        """One node's parts."""
        self.parts[node] = len(parts)
        seen = [self._reported(version) for version in {part.version for part in parts}]
        found = {one.version for one in seen}
        told = found - {None}
        self.versions.update(version for version in told if version is not None)
        if len(told) > 1:
            self.mixed.append(node)
        if not found or None in found:
            self.unknown.append(node)
        if any(one.below for one in seen):
            self.below.append(node)

    def result(self) -> ClassCompliance:
        """Of all nodes."""
        verdicts = {one.version: one.verdict for one in self.known.values()}
        usual = min(Counter(self.parts.values()).most_common(), key=lambda pair: (-pair[1], -pair[0]), default=(0, 0))[
            0
        ]
        return ClassCompliance(
            component=self.wanted.component,
            wanted=self.wanted.version,
            nodes=len(self.parts),
            versions=tuple(
                VersionCount(version, nodes, verdicts[version])
                for version, nodes in sorted(self.versions.items(), key=lambda pair: (-pair[1], pair[0]))
            ),
            mixed=tuple(self.mixed),
            unknown=tuple(self.unknown),
            uneven=tuple(node for node, count in self.parts.items() if count != usual),
            below_floor=tuple(self.below),
        )

    def _reported(self, version: str | None) -> _Reported:
        found = self.known.get(version)
        if found is None:
            found = self.known[version] = _reported(self.wanted, version)
        return found


def _reported(wanted: Wanted, version: str | None) -> _Reported:
    verdict = versions.verdict(version, wanted)
    if version is None or verdict is Verdict.MISSING:
        return _Reported(None, Verdict.MISSING, below=False)
    below = wanted.floor is not None and versions.verdict(version, at(wanted, wanted.floor)) is Verdict.OLDER
    return _Reported(versions.normalise(versions.extract(version, wanted.extract)), verdict, below)
