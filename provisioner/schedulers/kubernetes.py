"""Kubernetes: a cordon with a name on it, evictions that heed budgets, and a label with the release."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from provisioner.capabilities.clock import Clock
from provisioner.errors import SchedulerError
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.scheduling import (
    CheckpointThenRequeue,
    DrainPolicy,
    Force,
    OurReason,
    SchedulerView,
    WaitForJobs,
    release_label,
)
from provisioner.schedulers import rules
from provisioner.schedulers.kubernetes_api import KubernetesApi, Raw
from provisioner.schedulers.kubernetes_reading import CORDON, RELEASE, VETO, Pod, budget_of, view_of
from provisioner.schedulers.node_names import NodeNames

_TRIES = 6
"""Readings of a node that others keep changing meanwhile."""
_EVICTIONS_AT_ONCE = 8


class Kubernetes:
    """A `Scheduler`. Each change names the version of the node that was read, so nobody's change is ever undone."""

    def __init__(self, api: KubernetesApi, clock: Clock, names: NodeNames) -> None:
        """`clock`: for deadlines."""
        self._api, self._clock, self._names = api, clock, names
        self._places = asyncio.Semaphore(_EVICTIONS_AT_ONCE)

    async def look(self, nodes: Collection[NodeName]) -> Mapping[NodeName, SchedulerView]:
        """Nodes before pods; a few nodes each by itself, many in pages of 500."""
        theirs = {node: self._names.theirs(node) for node in nodes}
        if not theirs:
            return {}
        seen = await self._api.nodes(theirs.values())
        pods = await self._api.pods(theirs.values())
        return {node: self._view(name, seen.get(name), pods.get(name, [])) for node, name in theirs.items()}

    async def cordon(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """As of `Scheduler`."""

        def change(_: Raw, view: SchedulerView) -> Mapping[str, Any] | None:
            if not rules.must_be_cordoned(self._api.name, node, view, reason):
                return None
            return {"metadata": {"annotations": {CORDON: reason.text}}, "spec": {"unschedulable": True}}

        return await self._change(node, change)

    async def drain(self, node: NodeName, reason: OurReason, policy: DrainPolicy) -> SchedulerView:
        """As of `Scheduler`."""
        rules.must_be_ours(self._api.name, node, await self.cordon(node, reason), reason)
        name = self._names.theirs(node)
        pods = (await self._api.pods([name]))[name]
        said = await asyncio.gather(*(self._do_what_is_due(pod, policy) for pod in pods))
        view = (await self.look([node]))[node]
        late = rules.overdue(policy, view.jobs, self._clock.now())
        return replace(view, blocked=(*(one for one in said if one), *late))

    async def label(self, node: NodeName, release: ReleaseDigest) -> SchedulerView:
        """As of `Scheduler`."""
        wanted = release_label(release)

        def change(seen: Raw, _: SchedulerView) -> Mapping[str, Any] | None:
            if (seen["metadata"].get("labels") or {}).get(RELEASE) == wanted:
                return None
            return {"metadata": {"labels": {RELEASE: wanted}}}

        return await self._change(node, change)

    async def expect_reboot(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """A cordon outlives a reboot here: it is enough that ours stands."""
        await self.cordon(node, reason)
        view = (await self.look([node]))[node]
        rules.must_be_drained(self._api.name, node, view, reason)
        return view

    async def uncordon(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """As of `Scheduler`. Where a person has set a veto meanwhile, the cordon is theirs from now on, and stays."""

        def change(seen: Raw, view: SchedulerView) -> Mapping[str, Any] | None:
            if not rules.may_be_lifted(self._api.name, node, view, reason):
                return None
            vetoed = VETO in (seen["metadata"].get("annotations") or {})
            spec = {} if vetoed else {"spec": {"unschedulable": None}}
            return {"metadata": {"annotations": {CORDON: None}}, **spec}

        return await self._change(node, change)

    async def close(self) -> None:
        """As of `Scheduler`."""
        await self._api.close()

    async def _change(
        self, node: NodeName, change: Callable[[Raw, SchedulerView], Mapping[str, Any] | None]
    ) -> SchedulerView:
        """Read, decide, write; again where somebody else has written in between."""
        name = self._names.theirs(node)
        for _ in range(_TRIES):
            seen = (await self._api.nodes([name])).get(name)
            view = self._view(name, seen, [])
            if seen is None:
                problem = f"{node}: {view.unknown}"
                raise SchedulerError(self._api.name, problem, "correct node_name, or see that its kubelet has joined")
            wanted = change(seen, view)
            if wanted is None or await self._api.patch_node(name, seen, wanted):
                return (await self.look([node]))[node]
        problem = f"{name} was changed by others {_TRIES} times while we wrote"
        raise SchedulerError(self._api.name, problem, "it is tried again; kubectl get node -w shows who does so")

    async def _do_what_is_due(self, pod: Pod, policy: DrainPolicy) -> str:
        """What keeps it there, or nothing."""
        if pod.leaving:
            return ""
        match policy:
            case Force():
                async with self._places:
                    reply = await self._api.delete(pod, 1)
                if not reply.ok and reply.status not in {404, 409}:
                    raise self._api.refused(f"pod {pod.id}", reply)
                return ""
            case WaitForJobs():
                return "" if pod.ends else await self._evict(pod, None)
            case CheckpointThenRequeue():
                return await self._evict(pod, max(1, int(policy.grace.total_seconds())))

    async def _evict(self, pod: Pod, grace_seconds: int | None) -> str:
        if not pod.owned:
            return f"pod {pod.id} belongs to no controller and would be lost: delete it, or drain with force"
        async with self._places:
            reply = await self._api.evict(pod, grace_seconds)
        if reply.ok or reply.status in {404, 409}:
            return ""
        budget = budget_of(reply.body) if reply.status == 429 else None
        if budget is None:
            raise self._api.refused(f"pod {pod.id}", reply)
        name = f"{pod.namespace}/{budget}"
        return f"pod {pod.id} may not go now: PodDisruptionBudget {name}; it is tried again, or: kubectl get pdb -A"

    def _view(self, name: str, seen: Raw | None, pods: list[Pod]) -> SchedulerView:
        if seen is None:
            return SchedulerView(unknown=f"Kubernetes has no node {name}")
        try:
            return view_of(seen, pods)
        except (KeyError, TypeError, AttributeError) as error:
            raise SchedulerError(
                self._api.name, f"node {name} cannot be read: {error!r}", "is this its API?"
            ) from error
