"""Webhooks, and what could not be delivered."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from provisioner.models.audit import AuditEntry
from provisioner.models.secret import Secret
from provisioner.models.webhook import DeadLetter, Webhook


class Webhooks(Protocol):
    """Of all workers. One worker at a time sends the events of one webhook, in their order."""

    async def add(self, webhook: Webhook, secret: Secret, *, audit: AuditEntry | None = None) -> None:
        """A new one; the secret is kept encrypted. It begins behind the newest event."""
        ...

    async def all(self) -> Sequence[Webhook]:
        """Every one, oldest first."""
        ...

    async def get(self, name: str) -> Webhook:
        """One. Raises `NotFound`."""
        ...

    async def secret(self, name: str) -> Secret:
        """What signs. Raises `NotFound`."""
        ...

    async def remove(self, name: str, *, audit: AuditEntry | None = None) -> None:
        """With its dead letters. Raises `NotFound`."""
        ...

    async def take(self, name: str, holder: str, now: datetime, until: datetime) -> Webhook | None:
        """For one worker alone until `until`; None: another has it, or it is gone."""
        ...

    async def settle(self, webhook: Webhook, holder: str, *, buried: DeadLetter | None = None) -> bool:
        """Where it stands now, and what was given up; False: another worker has it, and nothing is written."""
        ...

    async def leave(self, name: str, holder: str) -> None:
        """Another worker may have it."""
        ...

    async def letters(self, name: str, after: int, limit: int) -> Sequence[DeadLetter]:
        """Dead letters behind number `after`, oldest first."""
        ...

    async def redeliver(self, name: str, number: int, *, audit: AuditEntry | None = None) -> DeadLetter:
        """Send it again, once, soon. Raises `NotFound`."""
        ...

    async def answered(self, letter: DeadLetter, error: str) -> None:
        """A letter that was sent again: gone when `error` is empty, else a dead one again."""
        ...
