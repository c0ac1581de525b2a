"""Operations as the API shows them (AIP-151)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from provisioner.models.long_operation import LongOperation


class OperationMetadata(BaseModel):
    """What is known of it while it goes on. `asked`: what was asked for; `lines`: the last that the work has said."""

    kind: str
    subject: str
    asked: dict[str, str | bool]
    who: str
    state: str
    stage: str
    percent: float | None
    lines: list[str]
    attempt: int
    cancelling: bool
    created_at: datetime
    changed_at: datetime


class BuildResult(BaseModel):
    """What a build has made: the digest of an image."""

    image: str


class OperationError(BaseModel):
    """Why there is no result. `code`: failed or cancelled."""

    code: str
    message: str


class OperationView(BaseModel):
    """`done`, and then exactly one of `result` and `error`."""

    name: str
    done: bool
    metadata: OperationMetadata
    result: BuildResult | None = None
    error: OperationError | None = None

    @classmethod
    def of(cls, one: LongOperation) -> Self:
        """The view of one."""
        failed = one.done and one.result is None
        return cls(
            name=one.id,
            done=one.done,
            metadata=_metadata(one),
            result=BuildResult.model_validate(one.result) if one.done and one.result is not None else None,
            error=OperationError(code=one.state, message=one.error or one.state) if failed else None,
        )


class OperationPage(BaseModel):
    """Some of them, newest first, and where the others begin."""

    operations: list[OperationView]
    next: str | None

    @classmethod
    def of(cls, operations: Sequence[LongOperation], more: str | None) -> Self:
        """The page."""
        return cls(operations=[OperationView.of(one) for one in operations], next=more)


def _metadata(one: LongOperation) -> OperationMetadata:
    return OperationMetadata(
        kind=one.order.kind,
        subject=one.order.subject,
        asked=dict(one.order.asked),
        who=one.order.who,
        state=one.state,
        stage=one.progress.stage,
        percent=one.progress.percent,
        lines=list(one.progress.lines),
        attempt=one.attempt,
        cancelling=one.cancelling,
        created_at=one.created_at,
        changed_at=one.changed_at,
    )
