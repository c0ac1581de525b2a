"""Who may ask for what: every route, every role."""

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable

import pytest
import requests
from fastapi import HTTPException

from api.auth import allow, permit
from provisioner.capabilities.tokens import TokenHolder, TokenTerms
from provisioner.models.role import SCOPES_OF, Role, Scope
from tests.api.permissions import ALL, BODIES, BY_ROLE, BY_SESSION, OPEN, routes
from tests.api.site import Site


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
