"""The few calls of Kubernetes' API that a drain needs."""

import asyncio
from collections.abc import Collection, Mapping
from typing import Any

from provisioner.errors import SchedulerError
from provisioner.schedulers.kubernetes_reading import Pod, pods_of
from provisioner.schedulers.web import Reply, Web

_ONE_BY_ONE = 8
"""Up to so many nodes are asked for each by itself; more than that, all in pages."""
_PAGE = 500
_RIGHTS = (
    "the account needs: nodes (get, list, patch), pods (list, delete), pods/eviction (create); "
    "see: kubectl auth can-i --list"
)
_MERGE = "application/merge-patch+json"

Raw = Mapping[str, Any]


class KubernetesApi:
    """Of one cluster. All raise `SchedulerError`."""

    def __init__(self, web: Web) -> None:
        """`web`: its API server."""
        self._web = web
        self.name = web.name

    async def nodes(self, names: Collection[str]) -> dict[str, Raw]:
        """Those of `names` that are there."""
        if len(names) <= _ONE_BY_ONE:
            found = await asyncio.gather(*(self._node(name) for name in names))
            return {name: node for name, node in zip(names, found, strict=True) if node is not None}
        items = await self._list("/api/v1/nodes")
        return {node["metadata"]["name"]: node for node in items if node["metadata"]["name"] in set(names)}

    async def pods(self, nodes: Collection[str]) -> dict[str, list[Pod]]:
        """By node; without those that a drain leaves alone."""
        if len(nodes) <= _ONE_BY_ONE:
            lists = await asyncio.gather(
                *(self._list("/api/v1/pods", fieldSelector=f"spec.nodeName={name}") for name in nodes)
            )
        else:
            lists = [await self._list("/api/v1/pods")]
        found: dict[str, list[Pod]] = {name: [] for name in nodes}
        try:
            for pod in (pod for items in lists for pod in pods_of(items)):
                found.setdefault(pod.node, []).append(pod)
        except (KeyError, TypeError, ValueError) as error:
            raise self._unreadable("pods", error) from error
        return found

    async def patch_node(self, name: str, seen: Raw, change: Mapping[str, Any]) -> bool:
        """Only where it is still as `seen`: False where somebody has changed it since."""
        meta = {**change.get("metadata", {}), "resourceVersion": seen["metadata"]["resourceVersion"]}
        body = {**change, "metadata": meta}
        path = f"/api/v1/nodes/{name}"
        reply = await self._web.call("PATCH", path, body, kind=_MERGE, fieldManager="firstlight")
        if reply.status == 409:
            return False
        if not reply.ok:
            raise self._web.refused(f"node {name}", reply, _RIGHTS)
        return True

    async def evict(self, pod: Pod, grace_seconds: int | None) -> Reply:
        """Its answer, also where it is a no: 404 gone, 409 another pod has its name by now, 429 not now."""
        options: dict[str, Any] = {"preconditions": {"uid": pod.uid}}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
            "deleteOptions": options,
        }
        return await self._web.call("POST", f"{_path(pod)}/eviction", body)

    async def delete(self, pod: Pod, grace_seconds: int) -> Reply:
        """Whatever budgets say. Its answer, as of `evict`."""
        body = {"gracePeriodSeconds": grace_seconds, "preconditions": {"uid": pod.uid}}
        return await self._web.call("DELETE", _path(pod), body)

    def refused(self, what: str, reply: Reply) -> SchedulerError:
        """To be raised for a no that was not expected."""
        return self._web.refused(what, reply, _RIGHTS)

    async def close(self) -> None:
        """Let go of connections."""
        await self._web.close()

    async def _node(self, name: str) -> Raw | None:
        reply = await self._web.call("GET", f"/api/v1/nodes/{name}")
        if reply.status == 404:
            return None
        if not reply.ok:
            raise self._web.refused(f"node {name}", reply, _RIGHTS)
        return reply.body

    async def _list(self, path: str, **query: str) -> list[Raw]:
        """All pages of one list; a page that is missing makes the whole unusable."""
        items: list[Raw] = []
        more = ""
        while True:
            page = {"limit": str(_PAGE), **query, **({"continue": more} if more else {})}
            reply = await self._web.call("GET", path, **page)
            if not reply.ok:
                raise self._web.refused(path, reply, _RIGHTS)
            try:
                items += reply.body["items"]
                more = (reply.body.get("metadata") or {}).get("continue") or ""
            except (KeyError, TypeError) as error:
                raise self._unreadable(path, error) from error
            if not more:
                return items

    def _unreadable(self, what: str, error: Exception) -> SchedulerError:
        return SchedulerError(self.name, f"its list of {what} cannot be read: {error!r}", "is this Kubernetes' API?")


def _path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
