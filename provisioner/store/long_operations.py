"""Operations that people asked for."""

import json
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Index,
    Integer,
    Named,
    Table,
    Text,
    TypedColumns,
    delete,
    select,
    text,
    update,
)

from provisioner.capabilities.operations import Work
from provisioner.errors import NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.long_operation import (
    LongOperation,
    OperationOrder,
    OperationProgress,
    OperationState,
    Outcome,
)
from provisioner.store.audit import write_audit_if_given
from provisioner.store.columns import AnyRow, UtcDateTime
from provisioner.store.database import Database
from provisioner.store.inserts import insert_if_new
from provisioner.store.metadata import METADATA

_UNENDED = "state IN ('waiting', 'running')"


class OperationColumns(TypedColumns):
    """One row per operation. `asked`, `progress` and `result` are JSON."""

    id: Named[str] = Column(Text, primary_key=True)
    kind: Named[str] = Column(Text)
    key: Named[str] = Column(Text)
    subject: Named[str] = Column(Text)
    asked: Named[str] = Column(Text)
    who: Named[str] = Column(Text)
    created_at: Named[datetime] = Column(UtcDateTime)
    changed_at: Named[datetime] = Column(UtcDateTime)
    state: Named[str] = Column(Text)
    attempt: Named[int] = Column(Integer)
    cancelling: Named[bool] = Column(Boolean)
    progress: Named[str] = Column(Text)
    result: Named[str | None] = Column(Text)
    error: Named[str | None] = Column(Text)
    holder: Named[str | None] = Column(Text)
    leased_until: Named[datetime | None] = Column(UtcDateTime)


OPERATIONS = Table(
    "operations",
    METADATA,
    OperationColumns,
    Index(
        "ux_operations_unended",
        "kind",
        "key",
        unique=True,
        sqlite_where=text(_UNENDED),
        postgresql_where=text(_UNENDED),
    ),
    Index(None, "created_at"),
)
_C = OPERATIONS.c
_OPEN = _C.state.in_((OperationState.WAITING.value, OperationState.RUNNING.value))


class SqlOperations:
    """`Operations` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def add(self, operation: LongOperation, *, audit: AuditEntry | None = None) -> LongOperation:
        """As the protocol says."""
        return await self._database.write(partial(_add, operation=operation, audit=audit))

    async def get(self, name: str) -> LongOperation:
        """As the protocol says."""
        return _operation(await self._database.read(partial(_row, name=name)))

    async def page(self, kind: str | None, after: str | None, limit: int) -> Sequence[LongOperation]:
        """As the protocol says."""
        rows = await self._database.read(partial(_page, kind=kind, after=after, limit=limit))
        return [_operation(row) for row in rows]

    async def cancel(self, name: str, now: datetime, *, audit: AuditEntry | None = None) -> LongOperation:
        """As the protocol says."""
        return await self._database.write(partial(_cancel, name=name, now=now, audit=audit))

    async def take(self, kind: str, holder: str, now: datetime, until: datetime) -> Work | None:
        """As the protocol says."""
        taken = await self._database.write(partial(_take, kind=kind, holder=holder, now=now, until=until))
        return None if taken is None else Work(taken, holder)

    async def tell(self, work: Work, progress: OperationProgress, until: datetime) -> bool:
        """As the protocol says."""
        values = {"progress": _progress(progress), "leased_until": until}
        statement = update(OPERATIONS).where(*_mine(work)).values(values).returning(_C.cancelling)
        cancelling = await self._database.write(lambda connection: connection.scalar(statement))
        return cancelling is False

    async def end(self, work: Work, outcome: Outcome, now: datetime) -> bool:
        """As the protocol says."""
        values = {
            "state": outcome.state.value,
            "result": None if outcome.result is None else json.dumps(dict(outcome.result)),
            "error": outcome.error,
            "changed_at": now,
            "holder": None,
            "leased_until": None,
        }
        statement = update(OPERATIONS).where(*_mine(work)).values(values)
        return await self._database.write(lambda connection: connection.execute(statement).rowcount) > 0


async def forget_operations(database: Database, before: datetime) -> int:
    """Delete those that ended before `before`; how many. What goes on is never deleted."""
    statement = delete(OPERATIONS).where(~_OPEN, _C.changed_at < before)
    return await database.write(lambda connection: connection.execute(statement).rowcount)


def _add(connection: Connection, *, operation: LongOperation, audit: AuditEntry | None) -> LongOperation:
    order = operation.order
    values = {
        "id": operation.id,
        "kind": order.kind,
        "key": order.key,
        "subject": order.subject,
        "asked": json.dumps(dict(order.asked)),
        "who": order.who,
        "created_at": operation.created_at,
        "changed_at": operation.changed_at,
        "state": operation.state.value,
        "attempt": operation.attempt,
        "cancelling": operation.cancelling,
        "progress": _progress(operation.progress),
    }
    if insert_if_new(connection, table=OPERATIONS, values=values):
        write_audit_if_given(connection, audit)
        return operation
    same = select(OPERATIONS).where(_C.kind == order.kind, _C.key == order.key, _OPEN)
    row = connection.execute(same).first()
    if row is None:
        raise NotFound(f"the operation on {order.subject} has ended just now: ask again")
    return _operation(row)


def _cancel(connection: Connection, *, name: str, now: datetime, audit: AuditEntry | None) -> LongOperation:
    seen = _operation(_row(connection, name=name, lock=True))
    if seen.done or seen.cancelling:
        return seen
    values: dict[str, Any] = {"cancelling": True}
    if seen.state is OperationState.WAITING:
        values |= {"state": OperationState.CANCELLED.value, "changed_at": now, "error": "cancelled before it began"}
    connection.execute(update(OPERATIONS).where(_C.id == name).values(values))
    write_audit_if_given(connection, audit)
    return _operation(_row(connection, name=name))


def _take(connection: Connection, *, kind: str, holder: str, now: datetime, until: datetime) -> LongOperation | None:
    left_alone = (_C.state == OperationState.WAITING.value) | (_C.leased_until < now)
    query = select(OPERATIONS).where(_C.kind == kind, _OPEN, left_alone).order_by(_C.created_at, _C.id).limit(1)
    row = connection.execute(query.with_for_update(skip_locked=True)).first()
    if row is None:
        return None
    values = {
        "state": OperationState.RUNNING.value,
        "attempt": row.attempt + 1,
        "holder": holder,
        "leased_until": until,
        "changed_at": now,
    }
    connection.execute(update(OPERATIONS).where(_C.id == row.id).values(values))
    return _operation(_row(connection, name=row.id))


def _page(connection: Connection, *, kind: str | None, after: str | None, limit: int) -> Sequence[AnyRow]:
    query = select(OPERATIONS).order_by(_C.created_at.desc(), _C.id.desc()).limit(limit)
    if kind is not None:
        query = query.where(_C.kind == kind)
    if after is not None:
        last = _row(connection, name=after)
        older = (_C.created_at < last.created_at) | ((_C.created_at == last.created_at) & (_C.id < last.id))
        query = query.where(older)
    return connection.execute(query).all()


def _row(connection: Connection, *, name: str, lock: bool = False) -> AnyRow:
    query = select(OPERATIONS).where(_C.id == name)
    row = connection.execute(query.with_for_update() if lock else query).first()
    if row is None:
        raise NotFound(f"no operation is called {name}")
    return row


def _mine(work: Work) -> tuple[Any, ...]:
    return _C.id == work.operation.id, _C.holder == work.holder, _C.attempt == work.operation.attempt, _OPEN


def _progress(progress: OperationProgress) -> str:
    return json.dumps([progress.stage, progress.percent, list(progress.lines)])


def _operation(row: AnyRow) -> LongOperation:
    stage, percent, lines = json.loads(row.progress)
    return LongOperation(
        id=row.id,
        order=OperationOrder(row.kind, row.key, row.subject, json.loads(row.asked), row.who),
        created_at=row.created_at,
        changed_at=row.changed_at,
        state=OperationState(row.state),
        attempt=row.attempt,
        cancelling=row.cancelling,
        progress=OperationProgress(stage, percent, tuple(lines)),
        result=None if row.result is None else json.loads(row.result),
        error=row.error,
    )
