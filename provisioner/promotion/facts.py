"""What was found out about a candidate: all that the gates look at."""

from dataclasses import dataclass

from images.statements.statement import Statement
from profiles.release import Release
from provisioner.promotion.edges import Edge
from provisioner.promotion.soak import Soak


@dataclass(frozen=True, slots=True)
class Signed:
    """A statement whose signatures were verified. `envelope`: the digest of its bytes."""

    envelope: str
    statement: Statement


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is said of an image. `keys`: the site knows whose signatures count."""

    keys: bool
    signed: tuple[Signed, ...] = ()
    refused: tuple[str, ...] = ()
    """Why each envelope that was not believed was not."""


@dataclass(frozen=True, slots=True)
class PoolRelease:
    """What nodes of the target pool run, or the channel gives them now; and the way from there."""

    name: str
    digest: str
    nodes: int
    edge: Edge


@dataclass(frozen=True, slots=True)
class Facts:
    """One look at the world. `misfits`: why its driver does not go with its hardware."""

    release: Release
    evidence: Evidence
    soak: Soak
    stops: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()
    pool: tuple[PoolRelease, ...] = ()
    builders: frozenset[str] = frozenset()
    """Who made the release, or signed for the build of its image."""

    @property
    def one_way(self) -> tuple[str, ...]:
        """Components whose firmware cannot go back to what some node of the pool runs now."""
        return tuple(sorted({component for one in self.pool for component in one.edge.one_way}))
