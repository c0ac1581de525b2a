"""From what a pool runs to where it may go: the graph of its releases."""

from collections.abc import Iterable
from dataclasses import dataclass

from profiles.release import Release
from provisioner.capabilities.promotion_world import PromotionWorld
from provisioner.capabilities.rollouts import Rollouts
from provisioner.capabilities.world import World
from provisioner.errors import NotFound
from provisioner.models.identifiers import ReleaseDigest
from provisioner.pool_settings import PoolSettings
from provisioner.promotion.edges import Edge, edge

_MOST = 100
"""Releases that are looked at, newest first, beside those that nodes run."""


@dataclass(frozen=True, slots=True)
class Vertex:
    """One release. `nodes`: of the pool that should run it; `rejected`: why it came back from this class, if it did."""

    release: Release
    nodes: int
    channels: tuple[str, ...]
    rejected: str


@dataclass(frozen=True, slots=True)
class Way:
    """From a release that runs to another one."""

    before: ReleaseDigest
    after: ReleaseDigest
    edge: Edge


@dataclass(frozen=True, slots=True)
class Graph:
    """Releases of one pool's hardware class, and every way from those that run."""

    pool: str
    vertices: tuple[Vertex, ...]
    ways: tuple[Way, ...]


async def graph(world: World, promotion: PromotionWorld, rollouts: Rollouts, name: str, pool: PoolSettings) -> Graph:
    """Raises nothing for a pool without nodes: its releases are told all the same."""
    members = list(filter(pool.pool(name).has, await world.nodes.all()))
    running = {node.release for node in members if node.release is not None}
    known = await promotion.releases.page(pool.hardware_class, None, _MOST)
    digests = running | {ReleaseDigest(one.digest) for one in known}
    releases = {digest: release for digest in digests if (release := await _release(world, digest)) is not None}
    pointers = [one for one in await promotion.channels.pointers() if one.hardware_class == pool.hardware_class]
    came_back = {one.release: one.why for one in await rollouts.rejected() if one.hardware_class == pool.hardware_class}
    vertices = tuple(
        Vertex(
            release=release,
            nodes=sum(node.release == digest for node in members),
            channels=tuple(one.channel.value for one in pointers if one.release == digest),
            rejected=came_back.get(digest, ""),
        )
        for digest, release in sorted(releases.items())
    )
    return Graph(name, vertices, tuple(_ways(releases, running)))


def _ways(releases: dict[ReleaseDigest, Release], running: set[ReleaseDigest]) -> Iterable[Way]:
    for before in sorted(running & releases.keys()):
        for after in sorted(releases):
            if before != after:
                yield Way(before, after, edge(releases[before], releases[after]))


async def _release(world: World, digest: ReleaseDigest) -> Release | None:
    try:
        return await world.documents.release(digest)
    except NotFound:
        return None
