"""Channels, as we remember them."""

from collections.abc import Sequence
from typing import Protocol

from provisioner.models.audit import AuditEntry
from provisioner.models.channel import Channel, Movement, Pointer
from provisioner.models.identifiers import ReleaseDigest


class Channels(Protocol):
    """Pointers to releases, and how they got there. Only promotions that are applied, and rollbacks, move one."""

    async def current(self, channel: str, hardware_class: str) -> ReleaseDigest | None:
        """What the channel gives to this class now; None: nothing was promoted yet."""
        ...

    async def pointers(self) -> Sequence[Pointer]:
        """Every pointer that there is, by hardware class and channel. What they name must be kept."""
        ...

    async def pointer(self, channel: Channel, hardware_class: str) -> Pointer | None:
        """One of them; None: nothing was promoted yet."""
        ...

    async def history(self, channel: Channel, hardware_class: str) -> Sequence[Movement]:
        """Every move of one pointer, oldest first."""
        ...

    async def roll_back(self, seen: Pointer, movement: Movement, *, audit: AuditEntry) -> bool:
        """Move a pointer back, if it has not moved since it was `seen`; with `audit` in the same transaction.

        False: it has moved. Raises `NotFound` when no such release is kept.
        """
        ...
