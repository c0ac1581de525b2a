"""Readings of firmware inventories and the findings about them, in SQL."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Column, Connection, Integer, Named, Table, Text, TypedColumns, delete, or_, select
from sqlalchemy import insert as plain_insert

from provisioner.models.drift import DriftFinding, FirmwareReading, StandingFinding
from provisioner.models.event import EventKind
from provisioner.models.identifiers import NodeName
from provisioner.store.columns import UtcDateTime, node_column
from provisioner.store.database import Database
from provisioner.store.events import event_row, write_events
from provisioner.store.inserts import insert, upsert
from provisioner.store.locks import Lock, hold_lock
from provisioner.store.metadata import METADATA

_VERSIONS: TypeAdapter[dict[str, tuple[tuple[str, str | None], ...]]] = TypeAdapter(
    dict[str, tuple[tuple[str, str | None], ...]]
)
_FINDING: TypeAdapter[DriftFinding] = TypeAdapter(DriftFinding)


class ReadingColumns(TypedColumns):
    """One row per node that was looked at; `versions` is JSON, NULL before the first answer."""

    node: Named[str] = node_column(primary_key=True)
    tried_generation: Named[int] = Column(Integer)
    tried_at: Named[datetime] = Column(UtcDateTime)
    generation: Named[int | None] = Column(Integer)
    at: Named[datetime | None] = Column(UtcDateTime)
    versions: Named[str | None] = Column(Text)


class FindingColumns(TypedColumns):
    """One row per finding that stands, as JSON."""

    key: Named[str] = Column(Text, primary_key=True)
    since: Named[datetime] = Column(UtcDateTime)
    document: Named[str] = Column(Text)


class TurnColumns(TypedColumns):
    """One row: whose turn it is."""

    id: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    claimed_at: Named[datetime] = Column(UtcDateTime)


FIRMWARE_READINGS = Table("firmware_readings", METADATA, ReadingColumns)
DRIFT_FINDINGS = Table("drift_findings", METADATA, FindingColumns)
DRIFT_TURN = Table("drift_turn", METADATA, TurnColumns)
_ONLY = 1


class SqlDrift:
    """`Drift` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def claim(self, at: datetime, every: timedelta) -> bool:
        """As the protocol says."""
        return await self._database.write(partial(_claim, at=at, every=every))

    async def tried(self) -> Sequence[tuple[NodeName, int, datetime]]:
        """As the protocol says."""
        columns = FIRMWARE_READINGS.c
        query = select(columns.node, columns.tried_generation, columns.tried_at).order_by(columns.node)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [(NodeName(row[0]), row[1], row[2]) for row in rows]

    async def try_(self, node: NodeName, generation: int, at: datetime) -> None:
        """As the protocol says. Raises `NotFound`."""
        values = {"node": node, "tried_generation": generation, "tried_at": at}
        await self._database.write(partial(upsert, table=FIRMWARE_READINGS, values=values))

    async def read(self, reading: FirmwareReading) -> None:
        """As the protocol says. Raises `NotFound`."""
        values = {
            "node": reading.node,
            "tried_generation": reading.generation,
            "tried_at": reading.at,
            "generation": reading.generation,
            "at": reading.at,
            "versions": _VERSIONS.dump_json(dict(reading.versions)).decode(),
        }
        await self._database.write(partial(upsert, table=FIRMWARE_READINGS, values=values))

    async def readings(self) -> Sequence[FirmwareReading]:
        """As the protocol says."""
        columns = FIRMWARE_READINGS.c
        query = select(columns.node, columns.generation, columns.at, columns.versions)
        answered = query.where(columns.versions.is_not(None)).order_by(columns.node)
        rows = await self._database.read(lambda connection: connection.execute(answered).all())
        return [
            FirmwareReading(NodeName(node), generation or 0, at, _VERSIONS.validate_json(versions or "{}"))
            for node, generation, at, versions in rows
            if at is not None
        ]

    async def findings(self) -> Sequence[StandingFinding]:
        """As the protocol says."""
        return list((await self._database.read(_standing)).values())

    async def stand(self, findings: Collection[DriftFinding], at: datetime) -> tuple[int, int]:
        """As the protocol says."""
        return await self._database.write(partial(_stand, findings=findings, at=at), any)


def _claim(connection: Connection, *, at: datetime, every: timedelta) -> bool:
    statement = insert(connection, DRIFT_TURN).values(id=_ONLY, claimed_at=at)
    is_due = or_(DRIFT_TURN.c.claimed_at <= at - every, DRIFT_TURN.c.claimed_at > at)
    taken = statement.on_conflict_do_update(index_elements=["id"], set_={"claimed_at": at}, where=is_due)
    return connection.execute(taken.returning(DRIFT_TURN.c.id)).first() is not None


def _standing(connection: Connection) -> dict[str, StandingFinding]:
    rows = connection.execute(select(DRIFT_FINDINGS).order_by(DRIFT_FINDINGS.c.key)).all()
    return {row.key: StandingFinding(_FINDING.validate_json(row.document), row.since) for row in rows}


def _stand(connection: Connection, *, findings: Collection[DriftFinding], at: datetime) -> tuple[int, int]:
    hold_lock(connection, Lock.DRIFT)
    before = _standing(connection)
    now = {one.key: one for one in findings}
    new = [one for key, one in now.items() if key not in before]
    gone = [one.finding for key, one in before.items() if key not in now]
    changed = [one for key, one in now.items() if key in before and before[key].finding != one]
    for one in gone:
        connection.execute(delete(DRIFT_FINDINGS).where(DRIFT_FINDINGS.c.key == one.key))
    for one in changed:
        values = {"key": one.key, "since": before[one.key].since, "document": _json(one)}
        upsert(connection, table=DRIFT_FINDINGS, values=values)
    if new:
        rows = [{"key": one.key, "since": at, "document": _json(one)} for one in new]
        connection.execute(plain_insert(DRIFT_FINDINGS), rows)
    events = [*_events(new, "firmware drift", at), *_events(gone, "firmware drift is gone", at)]
    if events:
        write_events(connection, events)
    return len(new), len(gone)


def _json(finding: DriftFinding) -> str:
    return _FINDING.dump_json(finding).decode()


def _events(findings: Sequence[DriftFinding], what: str, at: datetime) -> list[dict[str, Any]]:
    return [event_row(at, one.odd[0], EventKind.OBSERVED, f"{what}: {one.told}") for one in findings]
