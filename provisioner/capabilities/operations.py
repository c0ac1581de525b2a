"""Operations: work that outlives the request that asked for it, and the process that began it."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from provisioner.models.audit import AuditEntry
from provisioner.models.long_operation import LongOperation, OperationOrder, OperationProgress, Outcome


class Work(NamedTuple):
    """What a worker has taken: it is his as long as he says so in time."""

    operation: LongOperation
    holder: str


class Operations(Protocol):
    """Of all workers. One whose worker died is taken up by another, and never stands as running for ever."""

    async def add(self, operation: LongOperation, *, audit: AuditEntry | None = None) -> LongOperation:
        """Keep a new one; where one with its kind and key has not ended, that one, and nothing is written."""
        ...

    async def get(self, name: str) -> LongOperation:
        """One of them. Raises `NotFound`."""
        ...

    async def page(self, kind: str | None, after: str | None, limit: int) -> Sequence[LongOperation]:
        """At most `limit`, newest first, behind the one called `after`. Raises `NotFound`."""
        ...

    async def cancel(self, name: str, now: datetime, *, audit: AuditEntry | None = None) -> LongOperation:
        """A waiting one is cancelled, a running one will be; one that has ended stays as it is. Raises `NotFound`."""
        ...

    async def take(self, kind: str, holder: str, now: datetime, until: datetime) -> Work | None:
        """The oldest that waits, or whose worker has said nothing until `now`; None: nothing to do."""
        ...

    async def tell(self, work: Work, progress: OperationProgress, until: datetime) -> bool:
        """It goes on; False when it shall end: somebody cancelled it, or another worker has it."""
        ...

    async def end(self, work: Work, outcome: Outcome, now: datetime) -> bool:
        """It is over; False when another worker has it."""
        ...


def order_of(kind: str, key: str, subject: str, who: str, **asked: object) -> OperationOrder:
    """An order; `asked`: JSON values."""
    return OperationOrder(kind, key, subject, asked, who)
