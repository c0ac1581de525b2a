"""What the drift watch has seen: versions of nodes, and what is wrong with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from provisioner.models.identifiers import NodeName

Versions = Mapping[str, tuple[tuple[str, str | None], ...]]
"""Component class -> (inventory id, reported version) of each of its parts, in the order of the inventory."""


@dataclass(frozen=True, slots=True)
class FirmwareReading:
    """What a node's BMC reported, for the components of its bundle.

    `generation`: the node's, when it was read: a reading of another generation tells nothing about this one.
    """

    node: NodeName
    generation: int
    at: datetime
    versions: Versions


class FindingKind(StrEnum):
    """What is wrong."""

    OFF_BUNDLE = "off_bundle"
    """A node does not run a version of its bundle."""
    MIXED = "mixed"
    """Parts of one class in one node run different versions."""
    POOL_DIFFERS = "pool_differs"
    """Nodes that one job may span run different versions."""


@dataclass(frozen=True, slots=True)
class DriftFinding:
    """One thing. `where`: the node, or the job domain such as `nvlink domain r01 of gb200-compute-tray`."""

    kind: FindingKind
    where: str
    component: str
    wanted: str | None
    """The bundle's version, where there is one."""
    versions: Mapping[str, tuple[NodeName, ...]]
    """What is reported -> the nodes that do, by name; the most usual first."""

    @property
    def key(self) -> str:
        """The same for the same trouble, whichever versions it is about."""
        return f"{self.kind}/{self.where}/{self.component}"

    @property
    def odd(self) -> tuple[NodeName, ...]:
        """The nodes to look at: all of a node's own finding; those that differ from the most usual in a domain."""
        groups = list(self.versions.values())
        fewer = groups[1:] if self.kind is FindingKind.POOL_DIFFERS else groups
        return tuple(dict.fromkeys(name for group in fewer for name in group))

    @property
    def told(self) -> str:
        """One sentence."""
        seen = ", ".join(f"{version} ({len(nodes)} x)" for version, nodes in self.versions.items())
        if self.kind is FindingKind.POOL_DIFFERS:
            return f"{self.where} differs within itself: {self.component} is {seen}"
        versions = ", ".join(self.versions)
        if self.kind is FindingKind.MIXED:
            return f"{self.where} is mixed: parts of {self.component} run {versions}"
        return f"{self.where} is off its bundle: {self.component} runs {versions}, and should run {self.wanted}"


@dataclass(frozen=True, slots=True)
class StandingFinding:
    """A finding that is there, and since when."""

    finding: DriftFinding
    since: datetime
