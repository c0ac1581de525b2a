"""The audit log."""

from collections.abc import Sequence
from typing import Protocol

from provisioner.models.audit import AuditEntry, AuditLine


class Audit(Protocol):
    """Only ever appended to. Changes take their `AuditEntry` along and write it in their own transaction."""

    async def record(self, entry: AuditEntry) -> AuditLine:
        """Append an entry of something that was changed outside this database."""
        ...

    async def page(self, after: int, limit: int) -> Sequence[AuditLine]:
        """At most `limit` lines behind number `after`, oldest first."""
        ...
