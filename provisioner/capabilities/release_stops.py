"""What speaks against a release by what happened to nodes."""

from collections.abc import Sequence
from typing import Protocol

from provisioner.models.identifiers import ReleaseDigest


class ReleaseStops(Protocol):
    """Stop rules that are open: of rollouts, and of releases that came back."""

    async def stops(self, release: ReleaseDigest) -> Sequence[str]:
        """One line for each, fit for a person; none: nothing stops it."""
        ...
