"""Signed statements about images and releases."""

from typing import Protocol

from images.statements.statement import Statement
from provisioner.promotion.facts import Evidence


class Statements(Protocol):
    """What was said, by whom it counts from."""

    async def about(self, digest: str) -> Evidence:
        """Everything that is said of it, verified; what is not believed is told with its reason."""
        ...

    async def sign(self, statement: Statement) -> str | None:
        """Sign it with the site's own key and keep it: the digest of its envelope; None where the site has no key."""
        ...

    @property
    def can_sign(self) -> bool:
        """The site has a key of its own."""
        ...
