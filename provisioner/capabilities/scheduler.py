"""Whatever places jobs on the nodes of a pool. One node is taken out of its hands, and given back, by these calls."""

from collections.abc import Collection, Mapping
from typing import Protocol

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.scheduling import DrainPolicy, OurReason, SchedulerView


class Scheduler(Protocol):
    """Each call may be made any number of times, by any process, and returns what was read afterwards.

    All raise `SchedulerError` where the scheduler does not answer, says no, or has been told something newer by a
    controller with a higher epoch; its text says what to do. None of them waits for jobs: look again.
    """

    async def look(self, nodes: Collection[NodeName]) -> Mapping[NodeName, SchedulerView]:
        """Each of them, in a few requests however many there are. Cordons are read before jobs."""
        ...

    async def cordon(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """No job starts there any more. A cordon of somebody else stays as it is, and ours is not added to it."""
        ...

    async def drain(self, node: NodeName, reason: OurReason, policy: DrainPolicy) -> SchedulerView:
        """Cordon it, then do what is due to its jobs. Call it until the view is drained; `blocked` says what waits.

        Raises `SchedulerError` where somebody else's cordon stands there: their jobs are not ours to end.
        """
        ...

    async def label(self, node: NodeName, release: ReleaseDigest) -> SchedulerView:
        """It runs this release and no other one. To be called before `uncordon`; other labels are kept."""
        ...

    async def expect_reboot(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """From now on the scheduler does not take it back by itself, however it boots. Only when it is drained."""
        ...

    async def uncordon(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """Lift the cordon of this rollout, if it is there. `vetoes` of the view names the others, which stay."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
