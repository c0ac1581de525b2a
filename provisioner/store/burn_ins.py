"""Burn-in runs, their results, and the agents' signs of life."""

import json
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    Named,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
    or_,
    select,
)

from provisioner.errors import Conflict
from provisioner.models.burn_in import BurnInRun, CheckResult, Heartbeat, ResultStatus
from provisioner.models.identifiers import NodeName
from provisioner.store.columns import AnyRow, UtcDateTime, node_column
from provisioner.store.database import Database
from provisioner.store.inserts import insert, insert_if_new
from provisioner.store.metadata import METADATA


class RunColumns(TypedColumns):
    """`number` grows by time."""

    number: Named[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    run: Named[str] = Column(Text, unique=True)
    node: Named[str] = node_column()
    attempt: Named[int] = Column(Integer)
    plan: Named[str] = Column(Text)
    opened_at: Named[datetime] = Column(UtcDateTime)


class ResultColumns(TypedColumns):
    """`number` grows by arrival; `metrics` is JSON."""

    number: Named[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    run: Named[str] = Column(Text, ForeignKey("burn_in_runs.run"))
    attempt: Named[int] = Column(Integer)
    item: Named[str] = Column(Text)
    status: Named[str] = Column(Text)
    started_at: Named[datetime] = Column(UtcDateTime)
    finished_at: Named[datetime] = Column(UtcDateTime)
    metrics: Named[str] = Column(Text)
    evidence: Named[str] = Column(Text)


class HeartbeatColumns(TypedColumns):
    """The last one of each node."""

    node: Named[str] = node_column(primary_key=True)
    at: Named[datetime] = Column(UtcDateTime)
    boot_id: Named[str] = Column(Text)
    sequence: Named[int] = Column(BigInteger)
    item: Named[str | None] = Column(Text)
    percent: Named[float | None] = Column(Double)


RUNS = Table("burn_in_runs", METADATA, RunColumns, Index(None, "node", "number"))
RESULTS = Table("check_results", METADATA, ResultColumns, UniqueConstraint("run", "attempt", "item"))
HEARTBEATS = Table("heartbeats", METADATA, HeartbeatColumns)


class SqlBurnIns:
    """`BurnIns` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def open(self, run: BurnInRun) -> BurnInRun:
        """Keep a new run, or the one that has the same id. Raises `Conflict` when that one is another node's."""
        return await self._database.write(partial(_open, run=run))

    async def latest(self, node: NodeName) -> BurnInRun | None:
        """The run of a node that was opened last."""
        query = select(RUNS).where(RUNS.c.node == node).order_by(RUNS.c.number.desc()).limit(1)
        row = await self._database.read_row(lambda connection: connection.execute(query).first())
        return None if row is None else _run(row)

    async def results(self, run: str) -> Sequence[CheckResult]:
        """What came in, oldest first."""
        query = select(RESULTS).where(RESULTS.c.run == run).order_by(RESULTS.c.number)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [_result(row) for row in rows]

    async def record(self, result: CheckResult) -> bool:
        """Keep a result; False when the same (run, attempt, item) is there already. Raises `NotFound`."""
        values = {
            "run": result.run,
            "attempt": result.attempt,
            "item": result.item,
            "status": result.status.value,
            "started_at": result.started_at,
            "finished_at": result.finished_at,
            "metrics": json.dumps(dict(result.metrics)),
            "evidence": result.evidence,
        }
        return await self._database.write(partial(insert_if_new, table=RESULTS, values=values))

    async def beat(self, heartbeat: Heartbeat) -> None:
        """Keep the last sign of life; one that was overtaken by a later one of the same boot changes nothing."""
        await self._database.write(partial(_beat, heartbeat=heartbeat))

    async def heartbeat(self, node: NodeName) -> Heartbeat | None:
        """The last sign of life of a node's agent."""
        query = select(HEARTBEATS).where(HEARTBEATS.c.node == node)
        row = await self._database.read_row(lambda connection: connection.execute(query).first())
        if row is None:
            return None
        return Heartbeat(NodeName(row.node), row.at, row.boot_id, row.sequence, row.item, row.percent)


def _open(connection: Connection, *, run: BurnInRun) -> BurnInRun:
    values = {
        "run": run.run,
        "node": run.node,
        "attempt": run.attempt,
        "plan": run.plan,
        "opened_at": run.opened_at,
    }
    insert_if_new(connection, table=RUNS, values=values)
    kept = _run(connection.execute(select(RUNS).where(RUNS.c.run == run.run)).one())
    if kept.node != run.node:
        raise Conflict(f"run {run.run} belongs to {kept.node}, not to {run.node}")
    return kept


def _beat(connection: Connection, *, heartbeat: Heartbeat) -> None:
    values = {
        "at": heartbeat.at,
        "boot_id": heartbeat.boot_id,
        "sequence": heartbeat.sequence,
        "item": heartbeat.item,
        "percent": heartbeat.percent,
    }
    is_later = or_(HEARTBEATS.c.boot_id != heartbeat.boot_id, HEARTBEATS.c.sequence <= heartbeat.sequence)
    statement = insert(connection, HEARTBEATS).values(node=heartbeat.node, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["node"], set_=values, where=is_later))


def _run(row: AnyRow) -> BurnInRun:
    return BurnInRun(row.run, NodeName(row.node), row.attempt, row.plan, row.opened_at)


def _result(row: AnyRow) -> CheckResult:
    return CheckResult(
        run=row.run,
        attempt=row.attempt,
        item=row.item,
        status=ResultStatus(row.status),
        started_at=row.started_at,
        finished_at=row.finished_at,
        metrics=json.loads(row.metrics),
        evidence=row.evidence,
    )
