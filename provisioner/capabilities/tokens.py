"""API tokens of people and machines."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from provisioner.models.role import Role
from provisioner.models.secret import Secret


class TokenHolder(NamedTuple):
    """Whom a token was given to, and what it allows."""

    name: str
    role: Role


class Tokens(Protocol):
    """Only a hash of a token is kept: who loses one gets another."""

    async def create(self, name: str, role: Role) -> Secret:
        """A new token, shown this once. Raises `Conflict` when the name has one already."""
        ...

    async def check(self, secret: Secret) -> TokenHolder | None:
        """Whose token it is, or None."""
        ...

    async def list(self) -> Sequence[TokenHolder]:
        """Every holder, by name."""
        ...

    async def revoke(self, name: str) -> None:
        """Make the token useless at once. Raises `NotFound`."""
        ...

    async def ensure_admin(self, path: Path) -> bool:
        """At the first start, make a token named `admin` and write it to `path` (mode 0600); True when it did."""
        ...
