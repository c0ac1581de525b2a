"""Who may ask for what: every route, every role."""

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import requests
from fastapi import HTTPException
from fastapi.routing import APIRoute, iter_route_contexts

from api.app import bare_app
from api.auth import allow, permit
from provisioner.capabilities.tokens import TokenHolder, TokenTerms
from provisioner.models.role import SCOPES_OF, Role, Scope
from tests.api.site import Site

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


def ask(site: Site, route: str, role: Role | None, token: str | None = None) -> requests.Response:
    method, path = route.split()
    digest = "sha256:" + "0" * 64
    path = path.format(
        channel="dev", name="r01-u02", key="k", number="1", file="x", arch="x86_64", digest=digest, other=digest
    )
    path += "?hardware_class=hgx-h100-8gpu" if "{channel}" in route else ""
    path += "?pool=pool" if route.endswith("/graph") else ""
    headers = {"Idempotency-Key": str(uuid.uuid4()), **({"Authorization": f"Bearer {token}"} if token else {})}
    with site.request(method, path, role, headers=headers, json=BODIES.get(route), stream=True) as response:
        if not response.headers["Content-Type"].startswith("text/event-stream"):
            assert response.content is not None
        return response


def test_every_route_is_decided_here() -> None:
    assert sorted(routes()) == sorted([*OPEN, *BY_SESSION, *BY_ROLE])


@pytest.mark.parametrize("route", sorted(BY_ROLE))
def test_without_a_token_nothing_answers(shared_site: Site, route: str) -> None:
    for token in (None, "wrong", "ungültig"):
        response = ask(shared_site, route, None, token and token.encode().decode("latin-1"))
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == 'Bearer realm="firstlight"'
        assert response.json()["detail"] == "a valid token is needed: Authorization: Bearer <token>"


HOLDERS = [TokenHolder("whole", role) for role in Role]
HOLDERS += [TokenHolder("narrow", role, frozenset({scope})) for role in Role for scope in SCOPES_OF[role]]
"""Every role, whole and narrowed to each of its scopes."""


@pytest.mark.parametrize("route", sorted(BY_ROLE))
def test_a_holder_may_do_what_the_table_says(shared_site: Site, tokens: dict[TokenHolder, str], route: str) -> None:
    """Every route with every role, whole and narrowed to each of its scopes."""
    for holder in HOLDERS:
        response = ask(shared_site, route, None, tokens[holder])
        if is_allowed(holder, BY_ROLE[route]):
            absent = {404} if NAMES_A_THING.search(route) else set()
            assert response.status_code in {200, 201, 202, 409} | absent, (holder, response.text)
            continue
        assert response.status_code == 403, holder
        assert "WWW-Authenticate" not in response.headers
        problem = response.json()
        assert problem["type"] == "urn:firstlight:problem:forbidden"
        assert problem["detail"].startswith(("this needs another role than", "this needs a token", "this needs the"))


NAMES_A_THING = re.compile(
    r"/v1/(campaigns|tokens|operations|webhooks|rollouts|releases|promotions|channels|images)/|/v1/(promotions|rollouts(:plan)?)$"
)
"""Routes that look for something that a site has only when a test has made it; 404: it was looked for."""


def is_allowed(holder: TokenHolder, table: frozenset[Role] | Scope) -> bool:
    """As README of the API says: a narrowed token reads, and has its scopes."""
    if isinstance(table, Scope):
        return table in holder.scopes
    return holder.role in table and (holder.narrowed_to is None or table == ALL)


@pytest.fixture(scope="module")
def tokens(shared_site: Site) -> dict[TokenHolder, str]:
    """Return a token for each holder."""
    made = {}
    for number, holder in enumerate(HOLDERS):
        work = shared_site.store.tokens.create(f"t{number}", holder.role, TokenTerms(holder.narrowed_to))
        made[holder] = shared_site.run(work).reveal()
    return made


@pytest.mark.parametrize("route", sorted(BY_SESSION))
def test_agents_need_their_own_credentials(shared_site: Site, route: str) -> None:
    for role in (None, *Role):
        response = ask(shared_site, route, role)
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == 'Bearer realm="firstlight"'
        assert response.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("route", sorted(OPEN))
def test_firmware_needs_no_token(shared_site: Site, route: str) -> None:
    query = "?uuid=1&serial=2" if route.endswith("ipxe") else ""
    response = ask(shared_site, route + query, None)
    left = {"GET /boot/words": 409, "GET /boot/{key}/{file}.efi": 404, "HEAD /boot/{key}/{file}.efi": 404}
    assert response.status_code == left.get(route, 404 if "artefacts" in route else 200)


def test_a_revoked_token_is_worth_nothing_at_once(site: Site) -> None:
    assert site.get("/v1/nodes", role=Role.APPROVER).status_code == 200
    site.run(site.store.tokens.revoke(Role.APPROVER.value))
    assert site.get("/v1/nodes", role=Role.APPROVER).status_code == 401


@pytest.mark.parametrize("scope", [None, *Scope])
@pytest.mark.parametrize("role", list(Role))
def test_scopes_come_with_the_role_and_a_narrowed_token_has_no_other(role: Role, scope: Scope | None) -> None:
    """Each of our dependencies, called as the routes do."""
    holder = TokenHolder("x", role, None if scope is None else frozenset({scope}))
    allowed = {one for one in Scope if _may(permit(one), holder)}
    assert allowed == (SCOPES_OF[role] if scope is None else SCOPES_OF[role] & {scope})
    assert _may(allow(ALL), holder) == (scope is None)


def _may(check: Callable[[TokenHolder], Awaitable[TokenHolder]], holder: TokenHolder) -> bool:
    try:
        asyncio.run(check(holder))  # type: ignore[arg-type]  # a coroutine function, as FastAPI wants it
    except HTTPException as refused:
        return refused.status_code != 403
    return True


def test_stopping_is_widely_allowed_and_starting_is_not() -> None:
    having = {scope: {role for role in Role if scope in SCOPES_OF[role]} for scope in Scope}
    assert having[Scope.EMERGENCY_STOP] == {Role.TECHNICIAN, Role.OPERATOR, Role.ADMIN}
    assert having[Scope.ROLLOUT_OPERATE] == {Role.OPERATOR, Role.ADMIN}
    assert having[Scope.PROMOTE_APPROVE] == {Role.APPROVER, Role.OPERATOR, Role.ADMIN}
