"""The journal of firmware updates in SQL: finished entries stay as history."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    Integer,
    Named,
    Table,
    Text,
    TypedColumns,
    delete,
    func,
    select,
    update,
)
from sqlalchemy import insert as plain_insert

from profiles.firmware.component import Activation
from provisioner.errors import Conflict
from provisioner.firmware.phase import FINISHED, Change, Entry, Phase, Planned, moved
from provisioner.models.identifiers import NodeName, TaskUri
from provisioner.store.columns import AnyRow, UtcDateTime, node_column
from provisioner.store.database import Database
from provisioner.store.metadata import METADATA

_FINISHED = tuple(sorted(FINISHED))
_UNSENT = (Phase.PLANNED, Phase.PREFLIGHT)


class UpdateColumns(TypedColumns):
    """One try. `changes`: JSON, oldest first, each [phase, time, reason, seen]. `part` is empty for a whole class."""

    number: Named[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    node: Named[str] = node_column()
    component: Named[str] = Column(Text)
    part: Named[str] = Column(Text)
    version: Named[str] = Column(Text)
    digest: Named[str] = Column(Text)
    activation: Named[str] = Column(Text)
    attempt: Named[int] = Column(Integer)
    phase: Named[str] = Column(Text)
    task: Named[str | None] = Column(Text)
    live_until: Named[datetime | None] = Column(UtcDateTime)
    tasks_before: Named[str] = Column(Text)
    changes: Named[str] = Column(Text)
    changed_at: Named[datetime] = Column(UtcDateTime)


UPDATES = Table(
    "firmware_updates",
    METADATA,
    UpdateColumns,
    Index(None, "node", "number"),
    Index(None, "changed_at"),
    sqlite_autoincrement=True,
)
_OPEN = UPDATES.c.phase.not_in(_FINISHED)
Index(
    "ux_firmware_updates_open",
    UPDATES.c.node,
    UPDATES.c.component,
    UPDATES.c.part,
    unique=True,
    sqlite_where=_OPEN,
    postgresql_where=_OPEN,
)


class SqlUpdateJournal:
    """`UpdateJournal` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def plan(self, node: NodeName, planned: Sequence[Planned], at: datetime) -> Sequence[Entry]:
        """Replace what was only planned; the open entries then. Raises `NotFound`."""
        return await self._database.write(partial(_plan, node=node, planned=planned, at=at))

    async def open(self, node: NodeName) -> Sequence[Entry]:
        """What is not finished, oldest first."""
        return await self._database.read(partial(_open, node=node))

    async def history(self, node: NodeName, limit: int = 200) -> Sequence[Entry]:
        """The last entries, oldest first."""
        query = select(UPDATES).where(UPDATES.c.node == node).order_by(UPDATES.c.number.desc()).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [_entry(row) for row in reversed(rows)]

    async def move(self, entries: Sequence[Entry], change: Change) -> Sequence[Entry]:
        """Move all of them, or none. Raises `Conflict`."""
        after = [moved(entry, change) for entry in entries]
        return await self._database.write(partial(_replace, before=entries, after=after))

    async def send(
        self, entries: Sequence[Entry], change: Change, live_until: datetime, tasks_before: Sequence[str]
    ) -> Sequence[Entry]:
        """To `uploaded`, before a package is sent. Raises `Conflict`."""
        listed = tuple(tasks_before)
        after = [
            replace(moved(entry, change), live_until=live_until, tasks_before=listed, task=None) for entry in entries
        ]
        return await self._database.write(partial(_replace, before=entries, after=after))

    async def started(self, entries: Sequence[Entry], task: TaskUri) -> Sequence[Entry]:
        """The task of an update. Raises `Conflict`."""
        after = [replace(entry, task=task) for entry in entries]
        return await self._database.write(partial(_replace, before=entries, after=after))

    async def forget(self, before: datetime) -> int:
        """Delete what was finished before then; how many entries it was."""
        old = UPDATES.c.phase.in_(_FINISHED) & (UPDATES.c.changed_at < before)
        statement = delete(UPDATES).where(old)
        return await self._database.write(lambda connection: connection.execute(statement).rowcount)


def _plan(connection: Connection, *, node: NodeName, planned: Sequence[Planned], at: datetime) -> Sequence[Entry]:
    known = _open(connection, node=node)
    stale = [one.number for one in known if one.phase in _UNSENT and one.what not in planned]
    connection.execute(delete(UPDATES).where(UPDATES.c.number.in_(stale)))
    kept = {one.what.component for one in known if one.number not in stale}
    new = [what for what in planned if what.component not in kept]
    if new:
        connection.execute(plain_insert(UPDATES), [_new(connection, node, what, at) for what in new])
    return _open(connection, node=node)


def _new(connection: Connection, node: NodeName, what: Planned, at: datetime) -> dict[str, Any]:
    same = [
        UPDATES.c.node == node,
        UPDATES.c.component == what.component,
        UPDATES.c.part == what.part,
        UPDATES.c.version == what.version,
        UPDATES.c.phase == Phase.FAILED,
    ]
    failed = connection.execute(select(func.count()).select_from(UPDATES).where(*same)).scalar_one()
    entry = Entry(0, node, what, failed + 1, Phase.PLANNED, None, None, (), (Change(Phase.PLANNED, at),))
    values = {
        "node": node,
        "component": what.component,
        "part": what.part,
        "version": what.version,
        "digest": what.digest,
        "activation": what.activation.value,
        "attempt": entry.attempt,
    }
    return values | _state(entry)


def _open(connection: Connection, *, node: NodeName) -> Sequence[Entry]:
    query = select(UPDATES).where(UPDATES.c.node == node, _OPEN).order_by(UPDATES.c.number)
    return [_entry(row) for row in connection.execute(query)]


def _replace(connection: Connection, *, before: Sequence[Entry], after: Sequence[Entry]) -> Sequence[Entry]:
    """Compare and swap: by the number of an entry, its phase and how often it has moved."""
    for old, new in zip(before, after, strict=True):
        same = [UPDATES.c.number == old.number, UPDATES.c.phase == old.phase, UPDATES.c.changes == _changes(old)]
        if connection.execute(update(UPDATES).where(*same).values(_state(new))).rowcount == 0:
            raise Conflict(f"{old.node}: {old.name} {old.what.version} is not {old.phase} any more: look again")
    return after


def _state(entry: Entry) -> dict[str, Any]:
    return {
        "phase": entry.phase.value,
        "task": entry.task,
        "live_until": entry.live_until,
        "tasks_before": json.dumps(entry.tasks_before),
        "changes": _changes(entry),
        "changed_at": entry.changes[-1].at,
    }


def _changes(entry: Entry) -> str:
    changes = [[one.phase.value, one.at.astimezone(UTC).isoformat(), one.reason, one.seen] for one in entry.changes]
    return json.dumps(changes)


def _entry(row: AnyRow) -> Entry:
    changes = (
        Change(Phase(phase), datetime.fromisoformat(at), reason, seen)
        for phase, at, reason, seen in json.loads(row.changes)
    )
    return Entry(
        number=row.number,
        node=NodeName(row.node),
        what=Planned(row.component, row.version, row.digest, Activation(row.activation), row.part),
        attempt=row.attempt,
        phase=Phase(row.phase),
        task=None if row.task is None else TaskUri(row.task),
        live_until=row.live_until,
        tasks_before=tuple(json.loads(row.tasks_before)),
        changes=tuple(changes),
    )
