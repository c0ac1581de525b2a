"""Work that takes longer than a request, as whoever asked for it sees it (AIP-151)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class OperationState(StrEnum):
    """Where it is."""

    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


ENDED = frozenset({OperationState.SUCCEEDED, OperationState.FAILED, OperationState.CANCELLED})


@dataclass(frozen=True, slots=True)
class OperationOrder:
    """What is asked for. `key`: of two that have not ended, none has the same kind and key."""

    kind: str
    key: str
    subject: str
    asked: Mapping[str, Any]
    who: str


@dataclass(frozen=True, slots=True)
class OperationProgress:
    """`stage`: in the words of who does it; `lines`: the last things that it said."""

    stage: str = ""
    percent: float | None = None
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended: exactly one of `result` and `error`."""

    state: OperationState
    result: Mapping[str, Any] | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class LongOperation:
    """One of them. `attempt`: how often a worker has begun it; `cancelling`: somebody wants it to end."""

    id: str
    order: OperationOrder
    created_at: datetime
    changed_at: datetime
    state: OperationState = OperationState.WAITING
    attempt: int = 0
    cancelling: bool = False
    progress: OperationProgress = field(default_factory=OperationProgress)
    result: Mapping[str, Any] | None = None
    error: str | None = None

    @property
    def done(self) -> bool:
        """It has ended, well or not."""
        return self.state in ENDED
