"""API tokens: who gets one, for what and until when."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from provisioner.capabilities.tokens import TokenRecord, Tokens, TokenTerms
from provisioner.models.audit import AuditEntry
from provisioner.models.role import Role, Scope
from provisioner.models.secret import Secret


@dataclass(frozen=True, slots=True)
class TokenOrder:
    """`scopes`: nothing, for all that the role may do; those that the role does not have have no effect.

    `lasts`: from now; None for ever.
    """

    name: str
    role: Role
    scopes: tuple[Scope, ...] = ()
    lasts: timedelta | None = None


async def create(
    tokens: Tokens, order: TokenOrder, now: datetime, *, who: str, request: str = ""
) -> tuple[TokenRecord, Secret]:
    """Give out a token; nobody can show it again. Raises `Conflict`."""
    audit = AuditEntry(
        now, who, "token.create", order.name, evidence=(order.role, *sorted(order.scopes)), request=request
    )
    terms = TokenTerms(
        narrowed_to=frozenset(order.scopes) or None, expires_at=None if order.lasts is None else now + order.lasts
    )
    token = await tokens.create(order.name, order.role, terms, audit=audit)
    return await tokens.get(order.name), token


async def revoke(tokens: Tokens, name: str, now: datetime, *, who: str, request: str = "") -> None:
    """Make a token useless at once. Raises `NotFound`."""
    await tokens.revoke(name, audit=AuditEntry(now, who, "token.revoke", name, request=request))
