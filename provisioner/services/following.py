"""Pools that follow a channel by themselves: what is promoted there is rolled out, in the pool's own windows."""

from collections.abc import Mapping

import structlog

from provisioner.capabilities.channels import Channels
from provisioner.capabilities.rollouts import Rollouts
from provisioner.capabilities.world import World
from provisioner.errors import FirstlightError
from provisioner.models.channel import Channel, Pointer
from provisioner.pool_settings import FollowSettings, PoolSettings
from provisioner.rollout.inventory import Pool
from provisioner.services.rollout_orders import Order
from provisioner.services.rollouts import RolloutDesk

_log = structlog.get_logger(__name__)


class Follower:
    """Starts rollouts for pools that follow a channel. Any number of workers may: a pointer's move has one name."""

    def __init__(self, world: World, rollouts: Rollouts, channels: Channels, pools: Mapping[str, PoolSettings]) -> None:
        """`pools`: by name; those without `follow` are left alone."""
        self._world, self._rollouts, self._channels, self._pools = world, rollouts, channels, pools
        self._desk = RolloutDesk(world, rollouts, pools)
        self._reasons: dict[str, str] = {}
        self._begun: set[str] = set()
        """Rollouts that need nothing more of us; whoever starts anew looks at each of them once."""

    async def look(self) -> None:
        """Once at every pool. Why one does not follow is logged, once for each reason."""
        for name, pool in self._pools.items():
            if pool.follow is None or pool.keep_back:
                continue
            try:
                await self._follow(name, pool, pool.follow)
            except FirstlightError as error:
                if self._reasons.get(name) != str(error):
                    _log.warning("pool_does_not_follow", pool=name, channel=pool.follow.channel, reason=str(error))
                self._reasons[name] = str(error)
            else:
                self._reasons.pop(name, None)

    async def _follow(self, name: str, pool: PoolSettings, follow: FollowSettings) -> None:
        """One rollout for each move of the pointer, whatever became of it: it is not offered again by itself.

        Every part of it may be asked for again, also by who comes after one that was killed in between.
        """
        pointer = await self._channels.pointer(Channel(follow.channel), pool.hardware_class)
        if pointer is None or self._world.clock.now() - pointer.since < follow.hold:
            return
        rollout = rollout_name(name, pointer)
        if rollout in self._begun or await self._runs_it_already(pool.pool(name), pointer):
            return
        who = f"policy of pool {name}"
        kept, _ = await self._desk.create(Order(name=rollout, pool=name, release=pointer.release), who)
        await self._desk.approve(rollout, who)
        if not kept.rollout.plan.spec.irreversible:
            await self._desk.start(rollout, who)
        self._begun.add(rollout)

    async def _runs_it_already(self, pool: Pool, pointer: Pointer) -> bool:
        nodes = filter(pool.has, await self._world.nodes.all())
        return all(one.release in {None, pointer.release} for one in nodes)


def rollout_name(pool: str, pointer: Pointer) -> str:
    """Of the rollout that one move of a pointer starts."""
    return f"{pool}-{pointer.channel}-{pointer.revision}"
