"""What people may ask about pools."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from provisioner.capabilities.channels import Channels
from provisioner.capabilities.rollouts import Rollouts
from provisioner.capabilities.world import World
from provisioner.models.channel import Channel, Pointer
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.node import Node
from provisioner.pool_settings import PoolSettings
from provisioner.rollout.inventory import SERVING


@dataclass(frozen=True, slots=True)
class PoolState:
    """One pool as it is now."""

    name: str
    settings: PoolSettings
    nodes: int
    in_service: int
    floor: int
    releases: Mapping[ReleaseDigest, int]
    """Nodes by what they should run."""
    rollout: str | None
    """The one that has not ended."""
    pointer: Pointer | None
    """Of the channel that it follows; of `production` where it follows none."""
    behind: int
    """Nodes that run something else than the channel says."""
    overdue: bool
    """They have for longer than the pool's `age_alarm`."""


async def pools(
    world: World, rollouts: Rollouts, channels: Channels, settings: Mapping[str, PoolSettings]
) -> list[PoolState]:
    """Every pool, by name."""
    nodes = await world.nodes.all()
    at_work = {one.pool: one.name for one in await rollouts.unended()}
    now = world.clock.now()
    found = []
    for name, pool in sorted(settings.items()):
        channel = Channel(pool.follow.channel) if pool.follow else Channel.PRODUCTION
        pointer = await channels.pointer(channel, pool.hardware_class)
        members = list(filter(pool.pool(name).has, nodes))
        found.append(_state(name, pool, members, at_work.get(name), pointer, now))
    return found


def _state(
    name: str, pool: PoolSettings, nodes: list[Node], rollout: str | None, pointer: Pointer | None, now: datetime
) -> PoolState:
    releases = Counter(node.release for node in nodes if node.release is not None)
    behind = 0 if pointer is None else sum(count for release, count in releases.items() if release != pointer.release)
    return PoolState(
        name=name,
        settings=pool,
        nodes=len(nodes),
        in_service=sum(node.hold is None and node.state in SERVING for node in nodes),
        floor=len(nodes) - pool.floor.may_be_out(len(nodes)),
        releases=releases,
        rollout=rollout,
        pointer=pointer,
        behind=behind,
        overdue=bool(behind) and _age(pointer, now) > pool.age_alarm,
    )


def _age(pointer: Pointer | None, now: datetime) -> timedelta:
    return timedelta(0) if pointer is None else now - pointer.since
