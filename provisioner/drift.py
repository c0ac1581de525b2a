"""What has drifted: nodes off their bundle, nodes that are mixed, and jobs' domains that differ within. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import FirmwareComponent as Wanted
from provisioner.firmware.classes import Classes, matching
from provisioner.firmware.judgement import ClassInNode, Judge
from provisioner.models.drift import DriftFinding, FindingKind, Versions
from provisioner.models.identifiers import NodeName
from provisioner.models.inventory import FirmwareComponent
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.versions import Verdict, normalise

NO_PART = "no part"

_SETTLED = frozenset({State.READY, State.IN_PRODUCTION, State.MAINTENANCE})


@dataclass(frozen=True, slots=True)
class Sighting:
    """A node as its BMC last reported it, beside what it should run. `spans`: its NVLink domain is larger than it."""

    node: Node
    bundle: FirmwareBundle
    spans: bool
    versions: Versions


def is_settled(node: Node) -> bool:
    """Nothing of ours changes its firmware now: what it reports is what it will run."""
    return node.state in _SETTLED or (node.hold is not None and node.held_from in _SETTLED)


def versions_of(bundle: FirmwareBundle, inventory: Sequence[FirmwareComponent]) -> Versions:
    """What of a firmware inventory is kept: by class, for ids change with an update."""
    return {
        wanted.component: tuple((part.id, part.version) for part in matching(wanted, inventory))
        for wanted in bundle.components
    }


def drift(sightings: Sequence[Sighting]) -> tuple[DriftFinding, ...]:
    """Every finding, by key. Nodes that are not settled have none, and count in no domain."""
    settled = list(_judged([one for one in sightings if is_settled(one.node)]))
    found = [finding for node, classes in settled for finding in _of_node(node.node.name, classes)]
    found += _of_domains(settled)
    return tuple(sorted(found, key=lambda finding: finding.key))


_Judged = tuple[Sighting, Sequence[ClassInNode]]


def _judged(sightings: Sequence[Sighting]) -> Iterator[_Judged]:
    """Nodes of one release share its bundle, and so one judge of it."""
    judges: dict[int, Judge] = {}
    for seen in sightings:
        judge = judges.get(id(seen.bundle))
        if judge is None:
            judge = judges[id(seen.bundle)] = Judge(Classes(seen.bundle))
        told = [seen.versions.get(wanted.component, ()) for wanted in seen.bundle.components]
        classes = [judge.of_class(at, tuple([version for _, version in parts])) for at, parts in enumerate(told)]
        yield seen, classes


def _of_node(node: NodeName, classes: Iterable[ClassInNode]) -> Iterator[DriftFinding]:
    for seen in classes:
        off = [one.text for one in seen.reported if one.verdict is not Verdict.EQUAL] or (
            [] if seen.parts else [NO_PART]
        )
        if off:
            yield _finding(FindingKind.OFF_BUNDLE, node, seen.wanted, off)
        if seen.mixed:
            yield _finding(FindingKind.MIXED, node, seen.wanted, _texts(seen))


def _of_domains(settled: Sequence[_Judged]) -> Iterator[DriftFinding]:
    """A job runs in one NVLink domain where that spans nodes (a rack of NVL72), else anywhere in the hardware class."""
    domains: dict[tuple[str, str], list[tuple[NodeName, ClassInNode]]] = defaultdict(list)
    for node, classes in settled:
        for seen in classes:
            domains[_domain(node), seen.wanted.component].append((node.node.name, seen))
    for (where, component), pairs in domains.items():
        yield from _of_domain(where, component, pairs)


def _of_domain(where: str, component: str, pairs: Sequence[tuple[NodeName, ClassInNode]]) -> Iterator[DriftFinding]:
    """Of as many that differ, those that run what a bundle names are the usual ones."""
    nodes: dict[str, list[NodeName]] = defaultdict(list)
    spelling: dict[str, str] = {}
    for node, seen in pairs:
        text = " + ".join(sorted(_texts(seen)))
        nodes[spelling.setdefault(normalise(text), text)].append(node)
    if len(nodes) > 1:
        named = {seen.wanted.version for _, seen in pairs}
        most_first = sorted(nodes.items(), key=lambda item: (-len(item[1]), item[0] not in named, item[0]))
        yield DriftFinding(
            kind=FindingKind.POOL_DIFFERS,
            where=where,
            component=component,
            wanted=named.pop() if len(named) == 1 else None,
            versions={text: tuple(sorted(names)) for text, names in most_first},
        )


def _domain(seen: Sighting) -> str:
    node = seen.node
    if seen.spans:
        return f"nvlink domain {node.rack} of {node.hardware_class}"
    return f"pool {node.hardware_class}"


def _texts(seen: ClassInNode) -> tuple[str, ...]:
    """Each version once, as the catalog would write it; words where there is none."""
    return tuple(one.text for one in seen.reported) or (NO_PART,)


def _finding(kind: FindingKind, node: NodeName, wanted: Wanted, found: Iterable[str]) -> DriftFinding:
    return DriftFinding(kind, node, wanted.component, wanted.version, dict.fromkeys(found, (node,)))
