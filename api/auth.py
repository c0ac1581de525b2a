"""Who asks, and may they?"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.problems import instance_of
from api.rate_limit import address_of, budgets_of, spend
from provisioner.capabilities.service import Service
from provisioner.capabilities.tokens import TokenHolder
from provisioner.models.boot import BootTicket
from provisioner.models.role import SCOPES_OF, Role, Scope
from provisioner.models.secret import Secret
from provisioner.services import agents

ACT = frozenset({Role.TECHNICIAN, Role.OPERATOR, Role.ADMIN})
"""What a person in front of the machine does."""
OPERATE = frozenset({Role.OPERATOR, Role.ADMIN})
ADMINISTER = frozenset({Role.ADMIN})

_TOKEN = HTTPBearer(auto_error=False, scheme_name="token", description="API token of a person or a machine")
_SESSION = HTTPBearer(auto_error=False, scheme_name="session", description="What an agent got when it registered")

_Given = HTTPAuthorizationCredentials | None


async def service_of(request: Request) -> Service:
    """The site that this app serves."""
    service: Service = request.app.state.service
    return service


Site = Annotated[Service, Depends(service_of)]


async def _request_id(request: Request) -> str:
    return instance_of(request.scope)


async def _holder(request: Request, service: Site, given: Annotated[_Given, Security(_TOKEN)]) -> TokenHolder:
    holder = await service.tokens.check(Secret(given.credentials)) if given else None
    budgets = budgets_of(request)
    if holder is None:
        spend(budgets.strangers, address_of(request))
        raise HTTPException(401, "a valid token is needed: Authorization: Bearer <token>")
    request.scope["firstlight.holder"] = holder.name
    spend(budgets.principals, holder.name)
    return holder


Reader = Annotated[TokenHolder, Depends(_holder)]
"""Whoever has a token may look."""


def allow(roles: frozenset[Role]) -> Callable[..., Awaitable[TokenHolder]]:
    """A dependency: the holder of the token, whose role must be among `roles`. A narrowed token has its scopes only."""

    async def check(holder: Reader) -> TokenHolder:
        if holder.role not in roles:
            raise HTTPException(403, f"this needs another role than {holder.role}")
        if holder.narrowed_to is not None:
            raise HTTPException(403, f"this needs a token that is not narrowed to {_words(holder.narrowed_to)}")
        return holder

    return check


def permit(scope: Scope) -> Callable[..., Awaitable[TokenHolder]]:
    """A dependency: the holder of the token, whose scopes must include `scope`."""

    async def check(holder: Reader) -> TokenHolder:
        if scope not in SCOPES_OF[holder.role]:
            raise HTTPException(403, f"this needs the scope {scope}, which role {holder.role} does not have")
        if scope not in holder.scopes:
            raise HTTPException(403, f"this needs the scope {scope}, which this token is narrowed from")
        return holder

    return check


def _words(scopes: frozenset[Scope]) -> str:
    return ", ".join(sorted(scopes)) or "no scope"


async def _agent(service: Site, given: Annotated[_Given, Security(_SESSION)]) -> BootTicket:
    if given is None:
        raise agents.NotAdmitted("this needs the session of a registered agent")
    return await agents.admit(service.world, Secret(given.credentials))


Actor = Annotated[TokenHolder, Depends(allow(ACT))]
Operator = Annotated[TokenHolder, Depends(allow(OPERATE))]
Admin = Annotated[TokenHolder, Depends(allow(ADMINISTER))]
Builder = Annotated[TokenHolder, Depends(permit(Scope.BUILD))]
Requester = Annotated[TokenHolder, Depends(permit(Scope.PROMOTE_REQUEST))]
Approver = Annotated[TokenHolder, Depends(permit(Scope.PROMOTE_APPROVE))]
RolloutOperator = Annotated[TokenHolder, Depends(permit(Scope.ROLLOUT_OPERATE))]
Stopper = Annotated[TokenHolder, Depends(permit(Scope.EMERGENCY_STOP))]
Agent = Annotated[BootTicket, Depends(_agent)]
RequestId = Annotated[str, Depends(_request_id)]
"""For the audit log; the same as `instance` in the service's log."""
