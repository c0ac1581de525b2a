"""Who else goes down with an activation, and for whom that must not be now. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from profiles.firmware.component import Activation, Domain
from provisioner.firmware.plan import Stage
from provisioner.models.identifiers import NodeName
from provisioner.models.lifecycle import State
from provisioner.models.node import Domains, Node

_BLOCKING = {
    State.IN_PRODUCTION: "is in production",
    State.CONFIGURING_BIOS: "has its BIOS configured",
    State.BOOTING: "boots",
    State.BURNING_IN: "burns in",
}
"""States that a power cut would end badly. All but production end by themselves."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node that goes down with another one."""

    name: NodeName
    place: str
    domain: Domain
    shared: str
    """The name of what they share: of the tray, the chassis or the feed."""
    blocks: str
    """Why it must not go down now; empty where it may."""

    def __str__(self) -> str:
        """For people, place included."""
        shared = f"{self.place} shares {self.domain} {self.shared}"
        return f"{shared} and {self.blocks}" if self.blocks else shared


@dataclass(frozen=True, slots=True)
class Reach:
    """What one activation takes down beside the node itself.

    `undeclared`: domains that it takes down and that the expected list does not name for this node, so that nobody
    knows who else is in them.
    """

    neighbours: tuple[Neighbour, ...] = ()
    undeclared: tuple[Domain, ...] = ()

    @property
    def blocking(self) -> tuple[Neighbour, ...]:
        """Those that must not go down now."""
        return tuple(one for one in self.neighbours if one.blocks)


class Neighbourhood:
    """All nodes by what they share."""

    def __init__(self, nodes: Iterable[Node], at_work: Mapping[NodeName, str] | None = None) -> None:
        """`at_work`: nodes that must not be interrupted and why, to be read after the name: `is being flashed`.

        A node whose state is `updating_firmware` blocks only when it is there: two that have both staged their
        firmware and wait for the same power cut would wait for each other.
        """
        self._at_work = at_work or {}
        self._sharing: dict[tuple[Domain, str], list[Node]] = defaultdict(list)
        for node in nodes:
            for domain, name in _declared(node.domains):
                self._sharing[domain, name.casefold()].append(node)

    def reach(self, stage: Stage, node: Node) -> Reach:
        """Who goes down with the node, by place; each once, named with the first domain that they share."""
        if stage.activation is Activation.NONE:
            return Reach()
        declared = dict(_declared(node.domains))
        wanted = [domain for domain in stage.domains if domain is not Domain.NODE]
        found: dict[NodeName, Neighbour] = {}
        for domain in (one for one in wanted if one in declared):
            for other in self._sharing.get((domain, declared[domain].casefold()), ()):
                if other.name != node.name and other.name not in found:
                    blocks = self._blocks(other)
                    found[other.name] = Neighbour(other.name, other.place, domain, declared[domain], blocks)
        return Reach(
            tuple(sorted(found.values(), key=lambda one: one.place)),
            tuple(domain for domain in wanted if domain not in declared),
        )

    def _blocks(self, node: Node) -> str:
        """A node that is held goes on being what it was held from: it may still serve."""
        return self._at_work.get(node.name) or _BLOCKING.get(node.held_from or node.state, "")


def _declared(domains: Domains) -> Iterator[tuple[Domain, str]]:
    pairs = ((Domain.TRAY, domains.tray), (Domain.CHASSIS, domains.chassis), (Domain.POWER, domains.power))
    return ((domain, name) for domain, name in pairs if name is not None)
