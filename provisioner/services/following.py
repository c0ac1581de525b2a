"""Pools that follow a channel by themselves: what is promoted there is rolled out, in the pool's own windows."""

from collections.abc import Mapping
from datetime import datetime

from provisioner.capabilities.channels import Channels
from provisioner.capabilities.rollouts import Rollouts
from provisioner.capabilities.world import World
from provisioner.errors import FirstlightError
from provisioner.models.channel import Channel, Pointer
from provisioner.pool_settings import PoolSettings
from provisioner.services.rollout_orders import Order
from provisioner.services.rollouts import RolloutDesk


class Follower:
    """Starts rollouts for pools that follow a channel. Any number of workers may: a pointer's move has one name."""

    def __init__(self, world: World, rollouts: Rollouts, channels: Channels, pools: Mapping[str, PoolSettings]) -> None:
        """`pools`: by name; those without `follow` are left alone."""
        self._world, self._rollouts, self._channels, self._pools = world, rollouts, channels, pools
        self._desk = RolloutDesk(world, rollouts, pools)
        self.reasons: dict[str, str] = {}
        """Why a pool does not follow now, for people; by pool."""

    async def look(self) -> None:
        """Once at every pool."""
        for name, pool in self._pools.items():
            if pool.follow is not None and not pool.keep_back:
                await self._follow(name, pool, pool.follow.channel)

    async def _follow(self, name: str, pool: PoolSettings, channel: str) -> None:
        pointer = await self._channels.pointer(Channel(channel), pool.hardware_class)
        if pointer is None or not _has_stood(pointer, pool, self._world.clock.now()):
            return
        try:
            await self._roll_out(name, pointer)
        except FirstlightError as error:
            self.reasons[name] = str(error)
        else:
            self.reasons.pop(name, None)

    async def _roll_out(self, pool: str, pointer: Pointer) -> None:
        """One rollout for each move of the pointer, whatever became of it: it is not offered again by itself."""
        if await self._runs_it_already(pool, pointer):
            return
        order = Order(name=rollout_name(pool, pointer), pool=pool, release=pointer.release)
        who = f"policy of pool {pool}"
        kept, _ = await self._desk.create(order, who)
        if kept.rollout.approved_by:
            return
        await self._desk.approve(kept.name, who)
        if not kept.rollout.plan.spec.irreversible:
            await self._desk.start(kept.name, who)

    async def _runs_it_already(self, pool: str, pointer: Pointer) -> bool:
        settings = self._pools[pool]
        nodes = [one for one in await self._world.nodes.all() if one.hardware_class == settings.hardware_class]
        return all(one.release in {None, pointer.release} for one in nodes)


def rollout_name(pool: str, pointer: Pointer) -> str:
    """Of the rollout that one move of a pointer starts."""
    return f"{pool}-{pointer.channel}-{pointer.revision}"


def _has_stood(pointer: Pointer, pool: PoolSettings, now: datetime) -> bool:
    assert pool.follow is not None, "only asked of pools that follow"  # noqa: S101
    return now - pointer.since >= pool.follow.hold
