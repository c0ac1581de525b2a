"""What moves together, and the failure domains that it stands in."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, NewType

from provisioner.models.identifiers import NodeName, ReleaseDigest

UnitName = NewType("UnitName", str)
"""One NVLink domain, or one node where there is none."""


class DomainKind(StrEnum):
    """What fails as a whole."""

    RACK = "rack"
    POWER = "power"
    LEAF = "leaf"


class Domain(NamedTuple):
    """One failure domain. A tuple: it is hashed a hundred thousand times in one plan."""

    kind: DomainKind
    name: str


@dataclass(frozen=True, slots=True)
class Unit:
    """All nodes of one NVLink domain: they go to a release together, or not at all."""

    name: UnitName
    nodes: tuple[NodeName, ...]
    hardware_class: str
    firmware: str
    """The firmware bundle that it runs now: its baseline."""
    release: ReleaseDigest
    """What it runs now, and returns to: its blue."""
    domains: frozenset[Domain] = frozenset()
    """A unit may stand in several of one kind, such as two power feeds."""
    missing: int = 0
    """Nodes that it lacks already."""
    precious: bool = False
    """Control nodes, and what is hardest to replace: goes last."""
