"""The history."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Index, Integer, Named, Table, Text, TypedColumns, select
from sqlalchemy import insert as plain_insert

from provisioner.models.event import Event, EventKind
from provisioner.models.identifiers import NodeName
from provisioner.models.lifecycle import State
from provisioner.store.columns import AnyRow, UtcDateTime, node_column
from provisioner.store.database import Database
from provisioner.store.locks import Lock, hold_lock
from provisioner.store.metadata import METADATA


class EventColumns(TypedColumns):
    """One row per event; an id is never used again, not even after the event was deleted."""

    id: Named[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    at: Named[datetime] = Column(UtcDateTime)
    node: Named[str] = node_column()
    kind: Named[str] = Column(Text)
    reason: Named[str] = Column(Text)
    from_state: Named[str | None] = Column(Text)
    to_state: Named[str | None] = Column(Text)


EVENTS = Table(
    "events",
    METADATA,
    EventColumns,
    Index(None, "node", "id"),
    Index(None, "at"),
    sqlite_autoincrement=True,
)


class SqlEvents:
    """`Events` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def of(self, node: NodeName, limit: int = 200) -> Sequence[Event]:
        """The last events of one node, oldest first."""
        query = select(EVENTS).where(EVENTS.c.node == node).order_by(EVENTS.c.id.desc()).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [_event(row) for row in reversed(rows)]

    async def after(self, last_id: int, limit: int = 500) -> Sequence[Event]:
        """Events with a greater id, oldest first."""
        query = select(EVENTS).where(EVENTS.c.id > last_id).order_by(EVENTS.c.id).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [_event(row) for row in rows]


def write_events(connection: Connection, events: Sequence[Mapping[str, Any]]) -> None:
    """The last thing that a transaction does.

    From here to the commit only this one gives out ids: who has seen an id never misses a smaller one that is
    committed later.
    """
    hold_lock(connection, Lock.EVENTS)
    connection.execute(plain_insert(EVENTS), list(events))


def last_reason(connection: Connection, node: NodeName) -> str | None:
    """Of the newest event of a node."""
    query = select(EVENTS.c.reason).where(EVENTS.c.node == node).order_by(EVENTS.c.id.desc()).limit(1)
    return connection.scalar(query)


def event_row(at: datetime, node: NodeName, kind: EventKind, reason: str) -> dict[str, Any]:
    """An event that changes no state."""
    return {"at": at, "node": node, "kind": kind.value, "reason": reason, "from_state": None, "to_state": None}


def _event(row: AnyRow) -> Event:
    return Event(
        id=row.id,
        at=row.at,
        node=NodeName(row.node),
        kind=EventKind(row.kind),
        reason=row.reason,
        from_state=None if row.from_state is None else State(row.from_state),
        to_state=None if row.to_state is None else State(row.to_state),
    )
