"""The audit log as the API shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from provisioner.models.audit import AuditLine


class AuditLineView(BaseModel):
    """One change. `digest` is SHA-256 over the rest, and `previous` the digest of the line before.

    `before` and `after` are digests of what was changed, where it has one; `request` is in the service's log too.
    """

    number: int
    at: datetime
    who: str
    what: str
    subject: str
    before: str | None
    after: str | None
    evidence: list[str]
    request: str
    previous: str
    digest: str

    @classmethod
    def of(cls, line: AuditLine) -> Self:
        """The view."""
        entry = line.entry
        return cls(
            number=line.number,
            at=entry.at,
            who=entry.who,
            what=entry.what,
            subject=entry.subject,
            before=entry.before,
            after=entry.after,
            evidence=list(entry.evidence),
            request=entry.request,
            previous=line.previous,
            digest=line.digest,
        )


class AuditPage(BaseModel):
    """Oldest first. `next` is the cursor of the page after this one; null on the last."""

    lines: list[AuditLineView]
    next: str | None

    @classmethod
    def of(cls, lines: Sequence[AuditLine], cursor: str | None) -> Self:
        """The view."""
        return cls(lines=[AuditLineView.of(one) for one in lines], next=cursor)
