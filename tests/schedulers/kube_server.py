"""A small API server of Kubernetes over real HTTP: nodes, pods, evictions, budgets, conflicts; and its bad days.

Answers are shaped as Kubernetes' own (pkg/registry/core/pod/storage/eviction.go, apimachinery's Status).
"""

import asyncio
import copy
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.schedulers.kube_objects import Budget, merged, new_node, status
from tests.schedulers.served import Served


@dataclass
class Fault:
    """For the next `times` requests whose method and path hold `match`. `hang`: accepted, never answered."""

    match: str
    status: int = 503
    times: int = 1
    hang: bool = False
    body: str = "the server is currently unable to handle the request"
    headers: dict[str, str] = field(default_factory=dict)
    after: bool = False
    """The request is carried out, and only its answer is lost."""


class KubeServer(Served):
    """Of one cluster."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls)
        self.nodes: dict[str, dict[str, Any]] = {}
        self.pods: dict[str, dict[str, Any]] = {}
        self.budgets: list[Budget] = []
        self.token = "right-token"
        self.faults: list[Fault] = []
        self.linger = False
        """Evicted pods stay, with a deletionTimestamp."""
        self.seen: list[str] = []
        self.graces: list[int | None] = []
        """Of each eviction and deletion."""
        self.before_change: Callable[[], None] | None = None
        """What somebody does between a reading and the next change, once."""
        self._version = 100

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/api/v1/nodes", self._list_nodes),
            web.get("/api/v1/nodes/{name}", self._get_node),
            web.patch("/api/v1/nodes/{name}", self._patch_node),
            web.get("/api/v1/pods", self._list_pods),
            web.post("/api/v1/namespaces/{namespace}/pods/{name}/eviction", self._evict),
            web.delete("/api/v1/namespaces/{namespace}/pods/{name}", self._delete),
        ]

    def add_node(self, name: str, **changes: Any) -> None:
        self.nodes[name] = merged(new_node(name), changes)
        self.touch(self.nodes[name])

    def touch(self, item: dict[str, Any]) -> None:
        """Somebody has changed it."""
        self._version += 1
        item["metadata"]["resourceVersion"] = str(self._version)

    def add_pod(self, pod: dict[str, Any]) -> str:
        """Its id."""
        self.touch(pod)
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        self.pods[name] = pod
        return name

    async def front(self, request: web.Request, handler: Any) -> web.StreamResponse:
        where = f"{request.method} {request.path_qs}"
        self.seen.append(where)
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            return status(401, "Unauthorized", "Unauthorized")
        fault = next((one for one in self.faults if one.match in where and one.times > 0), None)
        if fault is None:
            answer: web.StreamResponse = await handler(request)
            return answer
        fault.times -= 1
        if fault.after:
            await handler(request)
        if fault.hang:
            await asyncio.sleep(3600)
        return status(fault.status, "Fault", fault.body, headers=fault.headers)

    async def _list_nodes(self, request: web.Request) -> web.Response:
        return self._page(request, sorted(self.nodes.items()))

    async def _list_pods(self, request: web.Request) -> web.Response:
        node = request.query.get("fieldSelector", "").removeprefix("spec.nodeName=")
        chosen = [(name, pod) for name, pod in sorted(self.pods.items()) if not node or pod["spec"]["nodeName"] == node]
        return self._page(request, chosen)

    def _page(self, request: web.Request, items: list[tuple[str, dict[str, Any]]]) -> web.Response:
        start, limit = int(request.query.get("continue", "0")), int(request.query.get("limit", "500"))
        more = str(start + limit) if start + limit < len(items) else ""
        return web.json_response(
            {"metadata": {"continue": more}, "items": [item for _, item in items[start : start + limit]]}
        )

    async def _get_node(self, request: web.Request) -> web.Response:
        node = self.nodes.get(request.match_info["name"])
        return web.json_response(node) if node else status(404, "NotFound", "nodes not found")

    async def _patch_node(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        if request.content_type != "application/merge-patch+json":
            return status(415, "UnsupportedMediaType", request.content_type)
        patch = await request.json()
        self._step_in()
        wanted = patch.get("metadata", {}).pop("resourceVersion", None)
        if wanted is not None and wanted != self.nodes[name]["metadata"]["resourceVersion"]:
            message = f'Operation cannot be fulfilled on nodes "{name}": the object has been modified'
            return status(409, "Conflict", message)
        self.nodes[name] = merged(copy.deepcopy(self.nodes[name]), patch)
        self.touch(self.nodes[name])
        return web.json_response(self.nodes[name])

    async def _evict(self, request: web.Request) -> web.Response:
        self._step_in()
        body = await request.json()
        pod = self._find(request)
        if pod is None:
            return status(404, "NotFound", "pods not found")
        if refused := self._another(pod, body.get("deleteOptions", {})):
            return refused
        matching = [one for one in self.budgets if one.covers(pod)]
        if len(matching) > 1:
            return status(500, "InternalError", "This pod has more than one PodDisruptionBudget")
        for budget in matching:
            healthy = sum(budget.covers(other) for other in self.pods.values())
            if healthy - 1 < budget.min_available:
                return budget.refusal(healthy)
        self._end(pod)
        return web.json_response({"kind": "Status", "status": "Success"}, status=201)

    async def _delete(self, request: web.Request) -> web.Response:
        self._step_in()
        pod = self._find(request)
        if pod is None:
            return status(404, "NotFound", "pods not found")
        if refused := self._another(pod, await request.json()):
            return refused
        self._end(pod)
        return web.json_response(pod)

    def _step_in(self) -> None:
        if self.before_change is not None:
            step_in, self.before_change = self.before_change, None
            step_in()

    def _find(self, request: web.Request) -> dict[str, Any] | None:
        return self.pods.get(f"{request.match_info['namespace']}/{request.match_info['name']}")

    def _another(self, pod: dict[str, Any], options: dict[str, Any]) -> web.Response | None:
        self.graces.append(options.get("gracePeriodSeconds"))
        uid = options.get("preconditions", {}).get("uid", pod["metadata"]["uid"])
        if uid != pod["metadata"]["uid"]:
            return status(409, "Conflict", "the UID in the precondition does not match the UID in record")
        return None

    def _end(self, pod: dict[str, Any]) -> None:
        pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        if not self.linger:
            del self.pods[f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"]
