"""What agents send and get."""

from typing import Annotated, Self

from pydantic import AwareDatetime, BaseModel, Field, SecretStr

from api.fields import BigCount, Body, Count, Percent, Word
from provisioner.models.burn_in import CheckResult, ResultStatus
from provisioner.services.agents import AgentPlan, Session

EVIDENCE_CHARACTERS = 16 * 1024

_Digest = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]


class Registration(Body):
    """The node reports what it booted: `image` from its command line, `root` as it computed it itself."""

    token: Annotated[SecretStr, Field(min_length=1, max_length=200)]
    boot_id: Word
    image: _Digest
    root: _Digest
    version: Word


class SessionView(BaseModel):
    """`session` is the bearer token of the other requests."""

    session: str
    node: str
    heartbeat_seconds: float

    @classmethod
    def of(cls, session: Session) -> Self:
        """The view; the one place where the session is given out."""
        seconds = session.heartbeat_seconds
        return cls(session=session.token.reveal(), node=session.node, heartbeat_seconds=seconds)


class ItemView(BaseModel):
    """One check to run."""

    id: str
    kind: str
    parameters: dict[str, float]
    deadline_seconds: float


class PlanForAgent(BaseModel):
    """What is left to do."""

    run: str
    attempt: int
    items: list[ItemView]

    @classmethod
    def of(cls, plan: AgentPlan) -> Self:
        """The view."""
        items = [
            ItemView(id=one.id, kind=one.kind, parameters=one.parameters, deadline_seconds=one.deadline_seconds)
            for one in plan.items
        ]
        return cls(run=plan.run, attempt=plan.attempt, items=items)


class Beat(Body):
    """A sign of life; what runs is null between checks."""

    boot_id: Word
    sequence: BigCount
    run: Word | None
    item: Word | None
    percent: Percent | None
    uptime_seconds: Annotated[float, Field(ge=0)]


class Result(Body):
    """The outcome of one check. `metrics` carry their units in their names."""

    run: Word
    attempt: Count
    item: Word
    status: ResultStatus
    started_at: AwareDatetime
    finished_at: AwareDatetime
    metrics: Annotated[dict[Word, float], Field(max_length=200)]
    evidence: Annotated[str, Field(max_length=EVIDENCE_CHARACTERS)]

    def record(self) -> CheckResult:
        """As it is kept. PostgreSQL keeps no NUL in text."""
        return CheckResult(
            run=self.run,
            attempt=self.attempt,
            item=self.item,
            status=self.status,
            started_at=self.started_at,
            finished_at=self.finished_at,
            metrics=dict(self.metrics),
            evidence=self.evidence.replace("\0", "\N{REPLACEMENT CHARACTER}"),
        )
