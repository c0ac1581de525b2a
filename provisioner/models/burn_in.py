"""What the agent on a node reports."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from provisioner.models.identifiers import NodeName


class ResultStatus(StrEnum):
    """The outcome of one check. Only `pass` counts for the node."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check of one run. `metrics` carry their units in their names."""

    run: str
    attempt: int
    item: str
    status: ResultStatus
    started_at: datetime
    finished_at: datetime
    metrics: Mapping[str, float]
    evidence: str


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last sign of life of a node's agent."""

    node: NodeName
    at: datetime
    boot_id: str
    sequence: int
    item: str | None
    percent: float | None


@dataclass(frozen=True, slots=True)
class BurnInRun:
    """One run of a burn-in plan on one boot of a node."""

    run: str
    node: NodeName
    attempt: int
    plan: str
    """Name of the burn-in plan; its text is in the release."""
    opened_at: datetime
