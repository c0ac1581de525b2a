"""The journal of a node's firmware updates as the API shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from provisioner.firmware.phase import Change, Entry


class ChangeView(BaseModel):
    """One move. `seen`: the device or its BMC said what `reason` says; else it is what was asked for or happened."""

    phase: str
    at: datetime
    reason: str
    seen: bool

    @classmethod
    def of(cls, change: Change) -> Self:
        """The view."""
        return cls(phase=change.phase, at=change.at, reason=change.reason, seen=change.seen)


class EntryView(BaseModel):
    """One try to bring a component class, or one part of it, to a version. `task`: its URI on the BMC, once known."""

    number: int
    component: str
    part: str | None
    version: str
    package: str
    activation: str
    attempt: int
    phase: str
    reason: str
    task: str | None
    changes: list[ChangeView]

    @classmethod
    def of(cls, entry: Entry) -> Self:
        """The view."""
        return cls(
            number=entry.number,
            component=entry.what.component,
            part=entry.what.part or None,
            version=entry.what.version,
            package=entry.what.digest,
            activation=entry.what.activation,
            attempt=entry.attempt,
            phase=entry.phase,
            reason=entry.reason,
            task=entry.task,
            changes=[ChangeView.of(change) for change in entry.changes],
        )


class UpdateJournalView(BaseModel):
    """Oldest first; finished entries stay for more than a year."""

    node: str
    updates: list[EntryView]

    @classmethod
    def of(cls, node: str, entries: Sequence[Entry]) -> Self:
        """The view."""
        return cls(node=node, updates=[EntryView.of(entry) for entry in entries])
