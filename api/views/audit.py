"""The audit log as the API shows it."""

from collections.abc import Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict

from provisioner.models.audit import AuditLine
from provisioner.services.audit import AuditDocument


class AuditLineView(AuditDocument):
    """One change. `digest` is SHA-256 over the rest, and `previous` the digest of the line before.

    `before` and `after` are digests of what was changed, where it has one; `request` is in the service's log too.
    """

    model_config = ConfigDict(extra="ignore")


class AuditPage(BaseModel):
    """Oldest first. `next` is the cursor of the page after this one; null on the last."""

    lines: list[AuditLineView]
    next: str | None

    @classmethod
    def of(cls, lines: Sequence[AuditLine], cursor: str | None) -> Self:
        """The view."""
        return cls(lines=[AuditLineView.of(one) for one in lines], next=cursor)
