"""Rollouts in SQL."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, Table, and_, delete, or_, select, update
from sqlalchemy import insert as plain_insert

from provisioner.errors import Conflict, NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.turn import Rejected
from provisioner.rollout.kept import Glance, Kept, Line
from provisioner.rollout.state import PausedBy, Rollout, RolloutState
from provisioner.store.audit import write_audit, write_audit_if_given
from provisioner.store.columns import AnyRow
from provisioner.store.database import Database
from provisioner.store.inserts import insert, insert_if_new
from provisioner.store.locks import Lock, hold_lock
from provisioner.store.rollout_documents import facts_json, head_json, plan_json, rollout_of, task_json
from provisioner.store.rollout_tables import REJECTED, ROLLOUT_LINES, ROLLOUT_NODES, ROLLOUT_UNITS, ROLLOUTS

_C = ROLLOUTS.c
_SHOWN = (_C.name, _C.pool, _C.release, _C.state, _C.why, _C.who, _C.created_at, _C.closed_at)
_BATCH = 500
"""Rows per statement."""


class SqlRollouts:
    """`Rollouts` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def add(self, kept: Kept, *, audit: AuditEntry | None = None) -> bool:
        """As the protocol says."""
        return await self._database.write(partial(_add, kept=kept, audit=audit), bool)

    async def get(self, name: str) -> Kept:
        """Raises `NotFound`."""
        return await self._database.read(partial(_whole, name=name))

    async def revision(self, name: str) -> int:
        """Raises `NotFound`."""
        query = select(_C.revision).where(_C.name == name)
        found = await self._database.read_row(lambda connection: connection.scalar(query))
        if found is None:
            raise _unknown(name)
        return int(found)

    async def page(self, state: RolloutState | None, after: str | None, limit: int) -> Sequence[Glance]:
        """As the protocol says."""
        return await self._database.read(partial(_page, state=state, after=after, limit=limit))

    async def unended(self) -> Sequence[Glance]:
        """As the protocol says."""
        query = select(*_SHOWN).where(_C.closed_at.is_(None)).order_by(_C.created_at)
        return await self._database.read(lambda connection: [_glance(row) for row in connection.execute(query)])

    async def history(self, name: str) -> Sequence[Line]:
        """Oldest first."""
        lines = ROLLOUT_LINES.c
        query = select(lines.at, lines.what).where(lines.rollout == name).order_by(lines.id)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [Line(row.at, row.what) for row in rows]

    async def claim(self, name: str, holder: str, at: datetime, until: datetime) -> int | None:
        """As the protocol says."""
        return await self._database.write(partial(_claim, name=name, holder=holder, at=at, until=until))

    async def keep(
        self, seen: Kept, now: Rollout, at: datetime, *, told: Sequence[str], audit: AuditEntry | None = None
    ) -> Kept | None:
        """As the protocol says."""
        change = partial(_keep, seen=seen, now=now, at=at, told=told, audit=audit)
        if not await self._database.write(change, bool):
            return None
        return Kept(now, seen.who, seen.created_at, seen.request, seen.revision + 1)

    async def rejected(self) -> Sequence[Rejected]:
        """Newest first."""
        query = select(REJECTED).order_by(REJECTED.c.at.desc(), REJECTED.c.release)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [_rejected(row) for row in rows]

    async def pardon(self, release: ReleaseDigest, hardware_class: str, *, audit: AuditEntry) -> bool:
        """As the protocol says."""
        return await self._database.write(partial(_pardon, release=release, hardware_class=hardware_class, audit=audit))

    async def stops(self, release: ReleaseDigest) -> Sequence[str]:
        """As the protocol says."""
        return await self._database.read(partial(_stops, release=release))


def _unknown(name: str) -> NotFound:
    return NotFound(f"no rollout is called {name}")


def _add(connection: Connection, *, kept: Kept, audit: AuditEntry | None) -> bool:
    """One at a time, so that of two in one pool the second one sees the first."""
    hold_lock(connection, Lock.CAMPAIGN)
    rollout = kept.rollout
    values = {
        "name": kept.name,
        "pool": rollout.plan.spec.pool,
        "release": rollout.plan.spec.to_release,
        "who": kept.who,
        "created_at": kept.created_at,
        "request": json.dumps(kept.request, sort_keys=True),
        "plan": plan_json(rollout.plan),
        "revision": kept.revision,
        "holder": None,
        "leased_until": None,
        **_head(rollout),
    }
    if not insert_if_new(connection, table=ROLLOUTS, values=values):
        return False
    _refuse_second(connection, rollout)
    _tell(connection, kept.name, kept.created_at, [f"planned by {kept.who}"])
    write_audit_if_given(connection, audit)
    return True


def _refuse_second(connection: Connection, rollout: Rollout) -> None:
    """A pool has one at a time; one that waits to be superseded may be followed."""
    spec = rollout.plan.spec
    others = (_C.pool == spec.pool, _C.name != spec.name, _C.closed_at.is_(None))
    for row in connection.execute(select(_C.name, _C.head).where(*others)):
        if json.loads(row.head)["superseded_by"] != spec.name:
            raise Conflict(
                f"pool {spec.pool} has rollout {row.name}, which has not ended: wait for its end, abort "
                f"it, or have the new one supersede it"
            )


def _whole(connection: Connection, *, name: str) -> Kept:
    row = connection.execute(select(ROLLOUTS).where(_C.name == name)).first()
    if row is None:
        raise _unknown(name)
    units = select(ROLLOUT_UNITS.c.unit, ROLLOUT_UNITS.c.document).where(ROLLOUT_UNITS.c.rollout == name)
    nodes = select(ROLLOUT_NODES.c.node, ROLLOUT_NODES.c.document).where(ROLLOUT_NODES.c.rollout == name)
    tasks = {one.unit: one.document for one in connection.execute(units)}
    facts = {one.node: one.document for one in connection.execute(nodes)}
    return _kept(row, tasks, facts)


def _kept(row: AnyRow, tasks: Mapping[str, str], facts: Mapping[str, str]) -> Kept:
    """Its epoch is that of the last claim: whoever reads it now knows of that."""
    rollout = replace(rollout_of(row.plan, row.head, tasks, facts), epoch=row.epoch)
    return Kept(rollout, row.who, row.created_at, json.loads(row.request), row.revision)


def _page(connection: Connection, *, state: RolloutState | None, after: str | None, limit: int) -> list[Glance]:
    query = select(*_SHOWN).order_by(_C.created_at.desc(), _C.name.desc()).limit(limit)
    if state is not None:
        query = query.where(_C.state == state.value)
    if after is not None:
        last = connection.execute(select(_C.created_at, _C.name).where(_C.name == after)).first()
        if last is None:
            raise _unknown(after)
        same_moment = and_(_C.created_at == last.created_at, _C.name < last.name)
        query = query.where(or_(_C.created_at < last.created_at, same_moment))
    return [_glance(row) for row in connection.execute(query)]


def _glance(row: AnyRow) -> Glance:
    return Glance(
        name=row.name,
        pool=row.pool,
        release=ReleaseDigest(row.release),
        state=RolloutState(row.state),
        why=row.why,
        who=row.who,
        created_at=row.created_at,
        closed_at=row.closed_at,
    )


def _claim(connection: Connection, *, name: str, holder: str, at: datetime, until: datetime) -> int | None:
    """The holder of before keeps its epoch."""
    open_one = (_C.name == name, _C.closed_at.is_(None))
    again = update(ROLLOUTS).where(*open_one, _C.holder == holder).values(leased_until=until)
    if connection.execute(again).rowcount == 0:
        free = or_(_C.holder.is_(None), _C.leased_until <= at)
        taken = update(ROLLOUTS).where(*open_one, free)
        if connection.execute(taken.values(holder=holder, leased_until=until, epoch=_C.epoch + 1)).rowcount == 0:
            return None
    return connection.scalar(select(_C.epoch).where(_C.name == name))


def _keep(
    connection: Connection, *, seen: Kept, now: Rollout, at: datetime, told: Sequence[str], audit: AuditEntry | None
) -> bool:
    where = (_C.name == seen.name, _C.revision == seen.revision, _C.epoch <= now.epoch)
    values = {**_head(now), "revision": seen.revision + 1}
    del values["epoch"]  # claim alone raises it
    if connection.execute(update(ROLLOUTS).where(*where).values(values)).rowcount == 0:
        return False
    before = seen.rollout
    _write_parts(connection, ROLLOUT_UNITS, _changed(seen.name, "unit", before.tasks, now.tasks, task_json))
    _write_parts(connection, ROLLOUT_NODES, _changed(seen.name, "node", before.facts, now.facts, facts_json))
    gone = [node for node in before.facts if node not in now.facts]
    if gone:
        mine = ROLLOUT_NODES.c.rollout == seen.name
        connection.execute(delete(ROLLOUT_NODES).where(mine, ROLLOUT_NODES.c.node.in_(gone)))
    for hardware_class in sorted(now.rejected - before.rejected):
        _reject(connection, now, hardware_class, at)
    _tell(connection, seen.name, at, told)
    write_audit_if_given(connection, audit)
    return True


def _head(rollout: Rollout) -> dict[str, Any]:
    return {
        "state": rollout.state.value,
        "why": rollout.why,
        "closed_at": rollout.closed_at,
        "epoch": rollout.epoch,
        "head": head_json(rollout),
    }


def _changed(name: str, key: str, before: Mapping[Any, Any], now: Mapping[Any, Any], text: Any) -> Iterator[Any]:
    for which, what in now.items():
        if before.get(which) is not what:
            yield {"rollout": name, key: which, "document": text(what)}


def _write_parts(connection: Connection, table: "Table[Any]", rows: Iterator[Mapping[str, Any]]) -> None:
    batch = list(rows)
    keys = [column.name for column in table.primary_key]
    for start in range(0, len(batch), _BATCH):
        statement = insert(connection, table).values(batch[start : start + _BATCH])
        newer = {"document": statement.excluded.document}
        connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=newer))


def _reject(connection: Connection, rollout: Rollout, hardware_class: str, at: datetime) -> None:
    spec = rollout.plan.spec
    values = {
        "release": spec.to_release,
        "hardware_class": hardware_class,
        "rollout": spec.name,
        "why": rollout.why,
        "at": at,
    }
    insert_if_new(connection, table=REJECTED, values=values)


def _tell(connection: Connection, name: str, at: datetime, told: Sequence[str]) -> None:
    if told:
        connection.execute(plain_insert(ROLLOUT_LINES), [{"rollout": name, "at": at, "what": what} for what in told])


def _pardon(connection: Connection, *, release: ReleaseDigest, hardware_class: str, audit: AuditEntry) -> bool:
    columns = REJECTED.c
    gone = delete(REJECTED).where(columns.release == release, columns.hardware_class == hardware_class)
    if connection.execute(gone).rowcount == 0:
        return False
    write_audit(connection, audit)
    return True


def _stops(connection: Connection, *, release: ReleaseDigest) -> list[str]:
    came_back = select(REJECTED).where(REJECTED.c.release == release)
    found = [
        f"it came back from {row.hardware_class} in rollout {row.rollout}: {row.why}"
        for row in connection.execute(came_back)
    ]
    gated = select(_C.name, _C.why, _C.head).where(_C.release == release, _C.closed_at.is_(None))
    stopped = [row for row in connection.execute(gated) if json.loads(row.head)["paused_by"] == PausedBy.GATE]
    return [*found, *(f"rollout {row.name} is stopped at a gate: {row.why}" for row in stopped)]


def _rejected(row: AnyRow) -> Rejected:
    return Rejected(ReleaseDigest(row.release), row.hardware_class, row.rollout, row.why, row.at)
