"""API tokens of people and machines."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from provisioner.models.audit import AuditEntry
from provisioner.models.role import SCOPES_OF, Role, Scope
from provisioner.models.secret import Secret


class TokenHolder(NamedTuple):
    """Whom a token was given to, and what it allows."""

    name: str
    role: Role
    narrowed_to: frozenset[Scope] | None = None
    """None: all that the role may do."""

    @property
    def scopes(self) -> frozenset[Scope]:
        """Those of the role that the token was not narrowed from."""
        return SCOPES_OF[self.role] if self.narrowed_to is None else SCOPES_OF[self.role] & self.narrowed_to


@dataclass(frozen=True, slots=True)
class TokenTerms:
    """What limits a token beside its role."""

    narrowed_to: frozenset[Scope] | None = None
    expires_at: datetime | None = None


UNLIMITED = TokenTerms()


@dataclass(frozen=True, slots=True)
class TokenRecord:
    """What is known of a token. `prefix`: its first characters, to tell it from others; "" for one of an older program.

    `last_used_at` is exact to ten minutes.
    """

    holder: TokenHolder
    prefix: str
    created_at: datetime | None
    expires_at: datetime | None
    last_used_at: datetime | None


class Tokens(Protocol):
    """Only a hash of a token is kept: who loses one gets another."""

    async def create(
        self, name: str, role: Role, terms: TokenTerms = UNLIMITED, *, audit: AuditEntry | None = None
    ) -> Secret:
        """A new token, shown this once. Raises `Conflict` when the name has one already."""
        ...

    async def check(self, secret: Secret) -> TokenHolder | None:
        """Whose token it is, or None; an expired one is nobody's."""
        ...

    async def holds(self, holder: TokenHolder) -> bool:
        """The holder has this token still, neither revoked nor expired."""
        ...

    async def list(self) -> Sequence[TokenRecord]:
        """Every token, expired ones too, by name."""
        ...

    async def get(self, name: str) -> TokenRecord:
        """One token. Raises `NotFound`."""
        ...

    async def revoke(self, name: str, *, audit: AuditEntry | None = None) -> None:
        """Make the token useless at once. Raises `NotFound`."""
        ...

    async def ensure_admin(self, path: Path) -> bool:
        """At the first start, make a token named `admin` and write it to `path` (mode 0600); True when it did."""
        ...
