"""A pool without a scheduler: nobody places jobs there but people, who are asked by other means."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.scheduling import OWNER, Cordon, DrainPolicy, OurReason, SchedulerView, release_label
from provisioner.schedulers import rules

_NAME = "none"


class NoScheduler:
    """A `Scheduler`. It remembers what it was told for as long as this process lives; every node is known to it."""

    def __init__(self) -> None:
        """Nothing is cordoned at first."""
        self._views: dict[NodeName, SchedulerView] = {}

    async def look(self, nodes: Collection[NodeName]) -> Mapping[NodeName, SchedulerView]:
        """No jobs, ever."""
        return {node: self._view(node) for node in nodes}

    async def cordon(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """As of `Scheduler`."""
        if rules.must_be_cordoned(_NAME, node, self._view(node), reason):
            self._views[node] = replace(self._view(node), cordons=(Cordon(OWNER, reason.text),))
        return self._view(node)

    async def drain(self, node: NodeName, reason: OurReason, policy: DrainPolicy) -> SchedulerView:  # noqa: ARG002
        """As of `Scheduler`; there is nothing to wait for."""
        view = await self.cordon(node, reason)
        rules.must_be_ours(_NAME, node, view, reason)
        return view

    async def label(self, node: NodeName, release: ReleaseDigest) -> SchedulerView:
        """As of `Scheduler`."""
        self._views[node] = replace(self._view(node), labels=frozenset({release_label(release)}))
        return self._view(node)

    async def expect_reboot(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """As of `Scheduler`."""
        view = await self.cordon(node, reason)
        rules.must_be_drained(_NAME, node, view, reason)
        return view

    async def uncordon(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """As of `Scheduler`."""
        if rules.may_be_lifted(_NAME, node, self._view(node), reason):
            self._views[node] = replace(self._view(node), cordons=())
        return self._view(node)

    async def close(self) -> None:
        """Nothing is open."""

    def _view(self, node: NodeName) -> SchedulerView:
        return self._views.get(node, SchedulerView())
