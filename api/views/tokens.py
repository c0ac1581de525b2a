"""Tokens as the API shows them: never their secret, but for the one answer to who made one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from provisioner.capabilities.tokens import TokenRecord
from provisioner.models.secret import Secret


class TokenView(BaseModel):
    """One token. `scopes`: what it may do beside reading; `narrowed`: and nothing else that its role may.

    `prefix`: its first characters. `last_used_at` is exact to ten minutes.
    """

    name: str
    role: str
    scopes: list[str]
    narrowed: bool
    prefix: str
    created_at: datetime | None
    expires_at: datetime | None
    last_used_at: datetime | None

    @classmethod
    def of(cls, record: TokenRecord) -> Self:
        """The view of one."""
        return cls.model_validate(_fields(record))


class NewTokenView(TokenView):
    """With the token itself, which nobody can show again."""

    token: str

    @classmethod
    def shown_once(cls, record: TokenRecord, token: Secret) -> Self:
        """The one answer that has it."""
        return cls.model_validate({**_fields(record), "token": token.reveal()})


class TokenList(BaseModel):
    """All of them, by name."""

    tokens: list[TokenView]

    @classmethod
    def of(cls, records: Sequence[TokenRecord]) -> Self:
        """The list."""
        return cls(tokens=[TokenView.of(record) for record in records])


def _fields(record: TokenRecord) -> dict[str, object]:
    holder = record.holder
    return {
        "name": holder.name,
        "role": holder.role,
        "scopes": sorted(holder.scopes),
        "narrowed": holder.narrowed_to is not None,
        "prefix": record.prefix,
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "last_used_at": record.last_used_at,
    }
