"""Runs of operations, as the engine tells them."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from provisioner.models.identifiers import NodeName, OperationId


class RunStatus(StrEnum):
    """What the engine says about a run."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one operation. `worker` is the slot that runs it."""

    id: OperationId
    status: RunStatus
    worker: str | None
    started_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Progress:
    """What a node is doing right now, for people. `percent` is None where nobody knows."""

    node: NodeName
    operation: str
    doing: str
    percent: float | None
    since: datetime
