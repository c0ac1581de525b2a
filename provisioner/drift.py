"""What has drifted: nodes off their bundle, nodes that are mixed, and jobs' domains that differ within. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import FirmwareComponent as Wanted
from provisioner import versions
from provisioner.firmware.classes import matching
from provisioner.models.drift import DriftFinding, FindingKind, Versions
from provisioner.models.identifiers import NodeName
from provisioner.models.inventory import FirmwareComponent
from provisioner.models.lifecycle import State
from provisioner.models.node import Node

NO_VERSION = "no version"
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
    settled = [one for one in sightings if is_settled(one.node)]
    found = [finding for one in settled for finding in _of_node(one)]
    found += _of_domains(settled)
    return tuple(sorted(found, key=lambda finding: finding.key))


def _of_node(seen: Sighting) -> Iterator[DriftFinding]:
    for wanted in seen.bundle.components:
        reported = _reported(wanted, seen.versions)
        off = [one for one in reported if not versions.equal(one, wanted.version)]
        if off:
            yield _finding(FindingKind.OFF_BUNDLE, seen.node.name, wanted, dict.fromkeys(off, (seen.node.name,)))
        if len(reported) > 1:
            yield _finding(FindingKind.MIXED, seen.node.name, wanted, dict.fromkeys(reported, (seen.node.name,)))


def _of_domains(settled: Sequence[Sighting]) -> Iterator[DriftFinding]:
    """A job runs in one NVLink domain where that spans nodes (a rack of NVL72), else anywhere in the hardware class."""
    domains: dict[str, list[Sighting]] = defaultdict(list)
    for seen in settled:
        domains[_domain(seen)].append(seen)
    for where, members in domains.items():
        by_component: dict[str, list[tuple[Wanted, Sighting]]] = defaultdict(list)
        for seen in members:
            for wanted in seen.bundle.components:
                by_component[wanted.component].append((wanted, seen))
        for pairs in by_component.values():
            yield from _of_domain(where, pairs)


def _of_domain(where: str, pairs: Sequence[tuple[Wanted, Sighting]]) -> Iterator[DriftFinding]:
    """Of as many that differ, those that run what a bundle names are the usual ones."""
    nodes: dict[str, list[NodeName]] = defaultdict(list)
    spelling: dict[str, str] = {}
    for wanted, seen in pairs:
        text = " + ".join(sorted(_reported(wanted, seen.versions)))
        nodes[spelling.setdefault(versions.normalise(text), text)].append(seen.node.name)
    if len(nodes) > 1:
        named = {wanted.version for wanted, _ in pairs}
        most_first = sorted(nodes.items(), key=lambda item: (-len(item[1]), item[0] not in named, item[0]))
        yield DriftFinding(
            kind=FindingKind.POOL_DIFFERS,
            where=where,
            component=pairs[0][0].component,
            wanted=named.pop() if len(named) == 1 else None,
            versions={text: tuple(sorted(names)) for text, names in most_first},
        )


def _domain(seen: Sighting) -> str:
    node = seen.node
    if seen.spans:
        return f"nvlink domain {node.rack} of {node.hardware_class}"
    return f"pool {node.hardware_class}"


def _reported(wanted: Wanted, seen: Versions) -> tuple[str, ...]:
    """Each version once, as the catalog would write it; words where there is none."""
    parts = seen.get(wanted.component, ())
    found: dict[str, str] = {}
    for _, version in parts:
        text = NO_VERSION if version is None or versions.is_missing(version) else _text(version, wanted)
        found.setdefault(versions.normalise(text), text)
    return tuple(found.values()) or (NO_PART,)


def _text(version: str, wanted: Wanted) -> str:
    if versions.equal(version, wanted.version, wanted.extract):
        return wanted.version
    return " ".join(versions.extract(version, wanted.extract).replace("\0", " ").split())


def _finding(
    kind: FindingKind, node: NodeName, wanted: Wanted, found: Mapping[str, tuple[NodeName, ...]]
) -> DriftFinding:
    return DriftFinding(kind, node, wanted.component, wanted.version, dict(found))
