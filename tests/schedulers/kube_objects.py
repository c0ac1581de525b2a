"""Nodes, pods and budgets, as Kubernetes' API shows them."""

import itertools
from dataclasses import dataclass
from typing import Any

from aiohttp import web

_numbers = itertools.count(1)


@dataclass
class Budget:
    """A PodDisruptionBudget for all pods with `app`."""

    name: str
    app: str
    min_available: int

    def covers(self, pod: dict[str, Any]) -> bool:
        """Says whether the pod counts, and is healthy."""
        meta = pod["metadata"]
        return meta["labels"].get("app") == self.app and "deletionTimestamp" not in meta

    def refusal(self, healthy: int) -> web.Response:
        """As the eviction handler writes it."""
        said = f"The disruption budget {self.name} needs {self.min_available} healthy pods and has {healthy} currently"
        details = {"causes": [{"reason": "DisruptionBudget", "message": said}]}
        message = "Cannot evict pod as it would violate the pod's disruption budget."
        return status(429, "TooManyRequests", message, details=details)


def new_node(name: str) -> dict[str, Any]:
    """Ready, in service."""
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/arch": "amd64"}, "annotations": {}},
        "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


def new_pod(node: str, owner: str | None = "Job", app: str = "train", restart: str = "Never") -> dict[str, Any]:
    """A running one. `owner`: kind of its controller."""
    number = next(_numbers)
    owners = [{"kind": owner, "name": app, "controller": True}] if owner else []
    return {
        "kind": "Pod",
        "metadata": {
            "namespace": "ml",
            "name": f"{app}-{number}",
            "uid": f"uid-{number}",
            "labels": {"app": app},
            "ownerReferences": owners,
        },
        "spec": {"nodeName": node, "restartPolicy": restart},
        "status": {"phase": "Running", "startTime": "2026-01-01T00:00:00Z"},
    }


def merged(item: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """RFC 7396, in place."""
    for key, value in change.items():
        if value is None:
            item.pop(key, None)
        elif isinstance(value, dict):
            inner = item.get(key)
            item[key] = merged(inner if isinstance(inner, dict) else {}, value)
        else:
            item[key] = value
    return item


def status(
    code: int,
    reason: str,
    message: str,
    *,
    details: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> web.Response:
    """An object of kind Status."""
    body = {"kind": "Status", "status": "Failure", "reason": reason, "message": message, "code": code}
    return web.json_response(body | ({"details": details} if details else {}), status=code, headers=headers)
