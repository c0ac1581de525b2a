"""What a pool runs beside its bundle: counted, of what `judgement` says of each node. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import FirmwareComponent as Wanted
from provisioner.firmware.classes import Classes
from provisioner.firmware.judgement import ClassInNode, Judge
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
    judge = Judge(Classes(bundle))
    tallies = [_Tally(wanted) for wanted in bundle.components]
    for node, inventory in inventories.items():
        for tally, seen in zip(tallies, judge.of_inventory(inventory), strict=True):
            tally.add(node, seen)
    return tuple(tally.result() for tally in tallies)


@dataclass(slots=True)
class _Tally:
    """What was seen of one class so far."""

    wanted: Wanted
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    versions: Counter[str] = field(default_factory=Counter)
    parts: dict[NodeName, int] = field(default_factory=dict)
    mixed: list[NodeName] = field(default_factory=list)
    unknown: list[NodeName] = field(default_factory=list)
    below: list[NodeName] = field(default_factory=list)

    def add(self, node: NodeName, seen: ClassInNode) -> None:
        """One node."""
        self.parts[node] = seen.parts
        for one in seen.reported:
            if one.key is not None:
                self.versions[one.key] += 1
                self.verdicts.setdefault(one.key, one.verdict)
        if seen.mixed:
            self.mixed.append(node)
        if seen.unknown:
            self.unknown.append(node)
        if seen.below_floor:
            self.below.append(node)

    def result(self) -> ClassCompliance:
        """Of all nodes."""
        counts = Counter(self.parts.values()).most_common()
        usual, _ = min(counts, key=lambda pair: (-pair[1], -pair[0]), default=(0, 0))
        return ClassCompliance(
            component=self.wanted.component,
            wanted=self.wanted.version,
            nodes=len(self.parts),
            versions=tuple(
                VersionCount(version, nodes, self.verdicts[version])
                for version, nodes in sorted(self.versions.items(), key=lambda pair: (-pair[1], pair[0]))
            ),
            mixed=tuple(self.mixed),
            unknown=tuple(self.unknown),
            uneven=tuple(node for node, count in self.parts.items() if count != usual),
            below_floor=tuple(self.below),
        )
