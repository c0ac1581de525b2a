"""Who may ask for what: every route of the app, and what it is asked with in tests."""

from typing import Any

from fastapi.routing import APIRoute, iter_route_contexts

from api.app import bare_app
from provisioner.models.role import Role, Scope

NOBODY: frozenset[Role] = frozenset()
ALL = frozenset(Role)
ACT = frozenset({Role.TECHNICIAN, Role.OPERATOR, Role.ADMIN})
OPERATE = frozenset({Role.OPERATOR, Role.ADMIN})
ADMINISTER = frozenset({Role.ADMIN})

OPEN = {
    "GET /boot/ipxe",
    "HEAD /boot/ipxe",
    "GET /boot/words",
    "GET /boot/uefi/{arch}.efi",
    "HEAD /boot/uefi/{arch}.efi",
    "GET /boot/{key}/{file}.efi",
    "HEAD /boot/{key}/{file}.efi",
    "GET /boot/{key}",
    "HEAD /boot/{key}",
    "GET /v1/artefacts/{digest}",
    "HEAD /v1/artefacts/{digest}",
    "GET /healthz",
}
"""What firmware and load balancers ask, without a token."""

BY_SESSION = {
    "POST /boot/failures",
    "POST /v1/agent/register",
    "GET /v1/agent/plan",
    "POST /v1/agent/heartbeats",
    "POST /v1/agent/results",
}
"""What agents ask, with the token of their boot or their session: no API token is worth anything here."""

BY_ROLE: dict[str, frozenset[Role] | Scope] = {
    "GET /v1/nodes": ALL,
    "GET /v1/nodes/{name}": ALL,
    "GET /v1/nodes/{name}/history": ALL,
    "GET /v1/nodes/{name}/why": ALL,
    "GET /v1/nodes/{name}/plan": ALL,
    "GET /v1/nodes/{name}/firmware": ALL,
    "GET /v1/nodes/{name}/firmware-plan": ALL,
    "GET /v1/firmware/plan": ALL,
    "GET /v1/firmware/compliance": ALL,
    "GET /v1/discoveries": ALL,
    "GET /v1/firmware/drift": ALL,
    "GET /v1/campaigns": ALL,
    "GET /v1/campaigns/{name}": ALL,
    "POST /v1/campaigns/{name}/pause": ALL,
    "POST /v1/campaigns/{name}/resume": OPERATE,
    "POST /v1/campaigns/{name}/abort": OPERATE,
    "POST /v1/campaigns": OPERATE,
    "POST /v1/rollouts:plan": ALL,
    "GET /v1/pools": ALL,
    "GET /v1/graph": ALL,
    "GET /v1/images/{digest}": ALL,
    "GET /v1/images/{digest}/sbom": ALL,
    "GET /v1/images/{digest}/statements": ALL,
    "GET /v1/images/{digest}/diff/{other}": ALL,
    "GET /v1/rollouts": ALL,
    "GET /v1/rollouts:rejected": ALL,
    "POST /v1/rollouts:pardon": Scope.ROLLOUT_OPERATE,
    "GET /v1/rollouts/{name}": ALL,
    "GET /v1/rollouts/{name}/units": ALL,
    "POST /v1/rollouts": Scope.ROLLOUT_OPERATE,
    "POST /v1/rollouts/{name}:approve": Scope.ROLLOUT_OPERATE,
    "POST /v1/rollouts/{name}:start": Scope.ROLLOUT_OPERATE,
    "POST /v1/rollouts/{name}:pause": Scope.EMERGENCY_STOP,
    "POST /v1/rollouts/{name}:resume": Scope.ROLLOUT_OPERATE,
    "POST /v1/rollouts/{name}:abort": Scope.EMERGENCY_STOP,
    "POST /v1/rollouts/{name}:return": Scope.ROLLOUT_OPERATE,
    "POST /v1/rollouts/{name}:decide": Scope.ROLLOUT_OPERATE,
    "POST /v1/profiles:validate": ALL,
    "POST /v1/profiles:resolve": ALL,
    "POST /v1/profiles:explain": ALL,
    "GET /v1/releases": ALL,
    "GET /v1/releases/{digest}": ALL,
    "POST /v1/releases": Scope.BUILD,
    "GET /v1/promotions": ALL,
    "GET /v1/promotions/{name}": ALL,
    "POST /v1/promotions": Scope.PROMOTE_REQUEST,
    "POST /v1/promotions/{name}:cancel": Scope.PROMOTE_REQUEST,
    "POST /v1/promotions/{name}:approve": Scope.PROMOTE_APPROVE,
    "POST /v1/promotions/{name}:reject": Scope.PROMOTE_APPROVE,
    "POST /v1/promotions/{name}:waive": Scope.PROMOTE_APPROVE,
    "GET /v1/channels": ALL,
    "GET /v1/channels/{channel}": ALL,
    "POST /v1/channels/{channel}:rollback": Scope.ROLLOUT_OPERATE,
    "GET /v1/audit": ADMINISTER,
    "POST /v1/builds": Scope.BUILD,
    "GET /v1/operations": ALL,
    "GET /v1/operations/{name}": ALL,
    "POST /v1/operations/{name}:cancel": Scope.BUILD,
    "GET /v1/webhooks": ADMINISTER,
    "POST /v1/webhooks": ADMINISTER,
    "GET /v1/webhooks/{name}": ADMINISTER,
    "DELETE /v1/webhooks/{name}": ADMINISTER,
    "GET /v1/webhooks/{name}/dead-letters": ADMINISTER,
    "POST /v1/webhooks/{name}/dead-letters/{number}:redeliver": ADMINISTER,
    "GET /v1/tokens": ADMINISTER,
    "POST /v1/tokens": ADMINISTER,
    "DELETE /v1/tokens/{name}": ADMINISTER,
    "GET /v1/events": ALL,
    "GET /v1/openapi.json": ALL,
    "GET /metrics": ALL,
    "POST /v1/nodes/{name}/release": ACT,
    "POST /v1/nodes/{name}/password": ACT,
    "POST /v1/nodes/{name}/hold": OPERATE,
    "POST /v1/nodes/{name}/trust": OPERATE,
    "POST /v1/nodes/{name}/reimage": OPERATE,
    "POST /v1/nodes/{name}/hand-over": OPERATE,
    "POST /v1/nodes/{name}/take-back": OPERATE,
}

BODIES: dict[str, Any] = {
    "POST /v1/rollouts:plan": {"name": "spring", "pool": "p", "release": "hgx-h100-2025-1"},
    "POST /v1/rollouts:pardon": {"release": "sha256:" + "0" * 64, "hardware_class": "hgx-h100-8gpu"},
    "POST /v1/rollouts": {"name": "spring", "pool": "p", "release": "hgx-h100-2025-1"},
    "POST /v1/rollouts/{name}:approve": {},
    "POST /v1/rollouts/{name}:return": {},
    "POST /v1/rollouts/{name}:decide": {"wave": 0, "verdict": "pass", "why": "looked at"},
    "POST /v1/profiles:validate": {"kind": "burnin", "document": {}},
    "POST /v1/profiles:resolve": {"kind": "releases", "name": "hgx-h100-2025-1"},
    "POST /v1/profiles:explain": {"name": "gpu-r580"},
    "POST /v1/releases": {"profile": "hgx-h100-2025-1"},
    "POST /v1/promotions": {"channel": "dev", "release": "sha256:" + "0" * 64, "reason": "spring"},
    "POST /v1/promotions/{name}:reject": {"reason": "no"},
    "POST /v1/promotions/{name}:waive": {"gate": "soak", "reason": "the lab is down"},
    "POST /v1/channels/{channel}:rollback": {"release": "sha256:" + "0" * 64, "reason": "it is bad"},
    "POST /v1/tokens": {"name": "phone-7", "role": "technician"},
    "POST /v1/webhooks": {"url": "http://127.0.0.1:9/"},
    "POST /v1/builds": {"profile": "debian-12-base"},
    "POST /v1/campaigns": {"name": "spring", "release": "hgx-h100-2025-1"},
    "POST /v1/nodes/{name}/hold": {"reason": "cable"},
    "POST /v1/nodes/{name}/reimage": {"release": "hgx-h100-2025-1"},
    "POST /boot/failures": {"kind": "fetch", "detail": "x"},
    "POST /v1/nodes/{name}/password": {"username": "ADMIN", "password": "x"},
    "POST /v1/agent/register": {
        "token": "t",
        "boot_id": "b",
        "image": "sha256:" + "0" * 64,
        "root": "sha256:" + "0" * 64,
        "version": "1",
    },
    "POST /v1/agent/heartbeats": {
        "boot_id": "b",
        "sequence": 1,
        "run": None,
        "item": None,
        "percent": None,
        "uptime_seconds": 1.0,
    },
    "POST /v1/agent/results": {
        "run": "r",
        "attempt": 1,
        "item": "cpu",
        "status": "pass",
        "started_at": "2026-11-30T12:00:00Z",
        "finished_at": "2026-11-30T12:00:01Z",
        "metrics": {},
        "evidence": "",
    },
}


def routes() -> list[str]:
    """Return every route of the app as `METHOD path`."""
    found = []
    for context in iter_route_contexts(bare_app().routes):
        assert isinstance(context.original_route, APIRoute), "only FastAPI routes have our checks"
        found += [f"{method} {context.path}" for method in sorted(context.methods or ())]
    return found
