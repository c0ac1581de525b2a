"""The units of a pool, made of what the site knows of its nodes. Pure."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.rollout.unit import Domain, DomainKind, Unit, UnitName

_OUT = frozenset({State.DECOMMISSIONING, State.DECOMMISSIONED})
SERVING = frozenset({State.READY, State.IN_PRODUCTION})


@dataclass(frozen=True, slots=True)
class Pool:
    """Which nodes, and what of them moves together. `domain_nodes`: nodes in one NVLink domain, 1 where it ends with
    the box. Neither racks nor nodes: all of the class.
    """

    name: str
    hardware_class: str
    domain_nodes: int = 1
    racks: frozenset[str] = frozenset()
    nodes: frozenset[str] = frozenset()
    precious: frozenset[str] = frozenset()

    def has(self, node: Node) -> bool:
        """Of the pool, wherever it is in its life."""
        chosen = not self.racks and not self.nodes
        return node.hardware_class == self.hardware_class and (
            chosen or node.rack in self.racks or node.name in self.nodes
        )


@dataclass(frozen=True, slots=True)
class Stock:
    """What a pool consists of."""

    units: tuple[Unit, ...]
    broken: frozenset[UnitName]
    """Units of which no node is available."""
    left_out: Mapping[NodeName, str] = field(default_factory=dict)
    """Nodes of the pool that are in no unit, and why."""


def stock(pool: Pool, nodes: Iterable[Node], bundles: Mapping[ReleaseDigest, str]) -> Stock:
    """`bundles`: the firmware bundle of each release that a node has."""
    members: dict[UnitName, list[Node]] = defaultdict(list)
    short: Counter[UnitName] = Counter()
    left_out = {}
    for node in nodes:
        if not pool.has(node):
            continue
        name = UnitName(node.rack if pool.domain_nodes > 1 else node.name)
        reason = _reason_to_leave_out(node)
        if reason is None:
            members[name].append(node)
        else:
            left_out[node.name] = reason
            short[name] += pool.domain_nodes > 1
    units = tuple(_unit(pool, name, found, short[name], bundles) for name, found in sorted(members.items()))
    broken = {name for name, found in members.items() if not any(_available(node) for node in found)}
    return Stock(units, frozenset(broken), left_out)


def is_leaving(node: Node) -> bool:
    """On its way out, or gone."""
    return node.state in _OUT or node.held_from in _OUT


def _reason_to_leave_out(node: Node) -> str | None:
    if is_leaving(node):
        return "it is on its way out"
    if node.release is None or node.observed_image is None:
        return "it was never ready yet"
    return None


def _available(node: Node) -> bool:
    return node.hold is None and node.state in SERVING


def _unit(
    pool: Pool, name: UnitName, nodes: Collection[Node], short: int, bundles: Mapping[ReleaseDigest, str]
) -> Unit:
    counted = Counter(node.release for node in nodes if node.release is not None)
    release = min(counted, key=lambda one: (-counted[one], one))
    return Unit(
        name=name,
        nodes=tuple(sorted(node.name for node in nodes)),
        hardware_class=pool.hardware_class,
        firmware=bundles.get(release, ""),
        release=release,
        domains=frozenset(_domains(nodes)),
        missing=short,
        precious=any(node.name in pool.precious for node in nodes),
    )


def _domains(nodes: Iterable[Node]) -> Iterable[Domain]:
    for node in nodes:
        yield Domain(DomainKind.RACK, node.rack)
        if node.domains.power is not None:
            yield Domain(DomainKind.POWER, node.domains.power)
