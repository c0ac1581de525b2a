"""Counts how long nodes are in service with releases that somebody may want to promote."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from provisioner.capabilities.promotion_world import PromotionWorld
from provisioner.capabilities.world import World
from provisioner.models.node import Node
from provisioner.promotion.soak import Sighting, grown, is_enough, seen_running


@dataclass(slots=True)
class SoakWatch:
    """One worker's. What went by is read from the monotonic clock, which nobody sets."""

    world: World
    office: PromotionWorld
    _last: float | None = field(default=None, init=False)

    async def count(self) -> None:
        """Once. The first look after a start counts nothing."""
        seconds = time.monotonic()
        passed = timedelta(seconds=0 if self._last is None else seconds - self._last)
        self._last = seconds
        turn, now = await self.office.soaks.turn(), self.world.clock.now()
        growth = grown(turn, now, passed)
        sightings = await self._sightings(await self.world.nodes.all()) if growth else ()
        await self.office.soaks.grow(turn, now, sightings, growth / self._pace())

    def _pace(self) -> float:
        """Real seconds per second of the site: emulated hardware ages quicker."""
        return self.world.clock.work(timedelta(seconds=1)) or 1.0

    async def _sightings(self, nodes: Sequence[Node]) -> Sequence[Sighting]:
        """Nodes in service whose release can still be counted for something."""
        digests = sorted({node.release for node in nodes if node.release is not None})
        soaks = await self.office.soaks.of(digests)
        policies = tuple(self.office.policies.values())
        images = {
            one: (await self.world.documents.release(one)).image_digest
            for one in digests
            if not is_enough(soaks[one], policies)
        }
        found = [seen_running(node, images[node.release]) for node in nodes if node.release in images]
        return [one for one in found if one is not None]
