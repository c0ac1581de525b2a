"""A pool's scheduler, as rollouts ask for it."""

from collections.abc import Collection, Mapping

from provisioner.capabilities.scheduler import Scheduler
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.scheduling import DrainPolicy, OurReason, SchedulerView, Standing
from provisioner.models.turn import Right
from provisioner.rollout.sight import Scheduled

_STRANGER = Scheduled(frozenset({"the scheduler, which does not know it"}), 1, asked=True)
_BUSY = 1
"""Something runs, or may."""


class PoolJobs:
    """`Jobs` of a pool that has a scheduler."""

    def __init__(self, scheduler: Scheduler, policy: DrainPolicy) -> None:
        """`policy`: what becomes of jobs when a node is drained."""
        self._scheduler, self._policy = scheduler, policy

    async def look(self, nodes: Collection[NodeName]) -> Mapping[NodeName, Scheduled]:
        """As the protocol says."""
        views = await self._scheduler.look(nodes)
        return {node: _scheduled(views[node]) if node in views else _STRANGER for node in nodes}

    async def cordon(self, node: NodeName, right: Right) -> None:
        """As the protocol says."""
        await self._scheduler.cordon(node, _reason(right))

    async def drain(self, node: NodeName, right: Right) -> str:
        """As the protocol says."""
        view = await self._scheduler.drain(node, _reason(right), self._policy)
        return "; ".join(view.blocked)

    async def expect_reboot(self, node: NodeName, right: Right) -> None:
        """As the protocol says."""
        await self._scheduler.expect_reboot(node, _reason(right))

    async def label(self, node: NodeName, release: ReleaseDigest) -> None:
        """As the protocol says."""
        await self._scheduler.label(node, release)

    async def uncordon(self, node: NodeName, right: Right) -> None:
        """As the protocol says."""
        await self._scheduler.uncordon(node, _reason(right))


def _reason(right: Right) -> OurReason:
    return OurReason(right.rollout, right.epoch)


def _scheduled(view: SchedulerView) -> Scheduled:
    """Missing is never drained, and never in service. Our cordons go by the name of their rollout."""
    cordons = {str(one) if one.ours is None else one.ours.rollout for one in view.cordons}
    if view.standing is Standing.UNKNOWN:
        cordons.add(f"the scheduler, which cannot tell: {view.unknown or view.away}")
    return Scheduled(frozenset(cordons), len(view.jobs) or _BUSY * (view.busy or bool(view.unknown)), asked=True)
