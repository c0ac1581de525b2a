"""Who asks, and may they?"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.problems import instance_of
from provisioner.capabilities.service import Service
from provisioner.capabilities.tokens import TokenHolder
from provisioner.models.boot import BootTicket
from provisioner.models.role import Role
from provisioner.models.secret import Secret
from provisioner.services import agents

READ = frozenset(Role)
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


def allow(roles: frozenset[Role]) -> Callable[..., Awaitable[TokenHolder]]:
    """A dependency: the holder of the token, whose role must be among `roles`."""

    async def check(request: Request, service: Site, given: Annotated[_Given, Security(_TOKEN)]) -> TokenHolder:
        holder = await service.tokens.check(Secret(given.credentials)) if given else None
        if holder is None:
            raise HTTPException(401, "a valid token is needed: Authorization: Bearer <token>")
        request.scope["firstlight.holder"] = holder.name
        if holder.role not in roles:
            raise HTTPException(403, f"this needs another role than {holder.role}")
        return holder

    return check


async def _agent(service: Site, given: Annotated[_Given, Security(_SESSION)]) -> BootTicket:
    if given is None:
        raise agents.NotAdmitted("this needs the session of a registered agent")
    return await agents.admit(service.world, Secret(given.credentials))


Reader = Annotated[TokenHolder, Depends(allow(READ))]
Actor = Annotated[TokenHolder, Depends(allow(ACT))]
Operator = Annotated[TokenHolder, Depends(allow(OPERATE))]
Admin = Annotated[TokenHolder, Depends(allow(ADMINISTER))]
Agent = Annotated[BootTicket, Depends(_agent)]
RequestId = Annotated[str, Depends(_request_id)]
"""For the audit log; the same as `instance` in the service's log."""
