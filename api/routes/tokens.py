"""API tokens: who gets one, and who has one no longer."""

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field, field_validator
from pydantic_core.core_schema import ValidationInfo

from api.auth import Admin, RequestId, Site
from api.fields import NODE_NAME, Body
from api.once import Once
from api.problems import documented
from api.views.tokens import NewTokenView, TokenList
from provisioner.errors import Conflict
from provisioner.models.role import SCOPES_OF, Role, Scope
from provisioner.services import tokens

router = APIRouter(prefix="/v1/tokens", tags=["tokens"])

_Name = Annotated[str, Field(min_length=1, max_length=100, pattern=NODE_NAME)]
_NameInPath = Annotated[str, Path(max_length=100, pattern=NODE_NAME)]


class TokenRequest(Body):
    """For whom, and what it may do. Without `scopes`: all that the role may."""

    name: Annotated[_Name, Field(description="of the person or machine: it is in the audit log")]
    role: Role
    scopes: Annotated[tuple[Scope, ...], Field(max_length=len(Scope))] = ()
    expires_in_days: Annotated[int | None, Field(ge=1, le=3650, description="null: never")] = None

    @field_validator("scopes")
    @classmethod
    def _are_of_the_role(cls, scopes: tuple[Scope, ...], info: ValidationInfo) -> tuple[Scope, ...]:
        role: Role | None = info.data.get("role")
        if role is not None and (excess := sorted(set(scopes) - SCOPES_OF[role])):
            has = ", ".join(sorted(SCOPES_OF[role]))
            raise ValueError(f"role {role} does not have {', '.join(excess)}: narrow it to some of {has}")
        return scopes

    def order(self) -> tokens.TokenOrder:
        """For the service."""
        days = self.expires_in_days
        return tokens.TokenOrder(self.name, self.role, self.scopes, None if days is None else timedelta(days=days))


@router.get("", responses=documented(401, 403))
async def list_tokens(service: Site, _: Admin) -> TokenList:
    """Every token, by name."""
    return TokenList.of(await service.tokens.list())


@router.post("", status_code=HTTPStatus.CREATED, responses=documented(400, 401, 403, 409, 413, 422))
async def create(service: Site, holder: Admin, once: Once, request: RequestId, body: TokenRequest) -> NewTokenView:
    """Make one. Only this answer shows it: what is kept is a hash."""
    if once.done:
        raise Conflict(f"the token of {once.done} was made, and its answer is lost: revoke it, and make another")
    now = service.world.clock.now()
    record, token = await tokens.create(service.tokens, body.order(), now, who=holder.name, request=request)
    return NewTokenView.shown_once(record, token)


@router.delete("/{name}", status_code=HTTPStatus.NO_CONTENT, responses=documented(401, 403, 404, 422))
async def revoke(service: Site, holder: Admin, request: RequestId, name: _NameInPath) -> Response:
    """Make it useless at once."""
    await tokens.revoke(service.tokens, name, service.world.clock.now(), who=holder.name, request=request)
    return Response(status_code=HTTPStatus.NO_CONTENT)
