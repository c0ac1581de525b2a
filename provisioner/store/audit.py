"""The audit log: append-only, chained."""

import json
from collections.abc import Sequence
from datetime import datetime
from functools import partial

from sqlalchemy import BigInteger, Column, Connection, Integer, Named, Table, Text, TypedColumns, select
from sqlalchemy import insert as plain_insert

from provisioner.models.audit import AuditEntry, AuditLine, follow
from provisioner.store.columns import AnyRow, UtcDateTime
from provisioner.store.database import Database
from provisioner.store.locks import Lock, hold_lock
from provisioner.store.metadata import METADATA
from provisioner.store.request_claims import mark_done


class AuditColumns(TypedColumns):
    """One row per line. Triggers of the migration refuse every UPDATE and DELETE."""

    number: Named[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False)
    at: Named[datetime] = Column(UtcDateTime)
    who: Named[str] = Column(Text)
    what: Named[str] = Column(Text)
    subject: Named[str] = Column(Text)
    before: Named[str | None] = Column(Text)
    after: Named[str | None] = Column(Text)
    evidence: Named[str] = Column(Text)
    request: Named[str] = Column(Text)
    previous: Named[str] = Column(Text)
    digest: Named[str] = Column(Text)


AUDIT = Table("audit", METADATA, AuditColumns)


class SqlAudit:
    """`Audit` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def record(self, entry: AuditEntry) -> AuditLine:
        """As the protocol says."""
        return await self._database.write(partial(write_audit, entry=entry))

    async def page(self, after: int, limit: int) -> Sequence[AuditLine]:
        """As the protocol says."""
        query = select(AUDIT).where(AUDIT.c.number > after).order_by(AUDIT.c.number).limit(limit)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return [_line(row) for row in rows]


def write_audit(connection: Connection, entry: AuditEntry) -> AuditLine:
    """Append to the chain, behind all rows that this transaction changes and before its events.

    From here to the commit nobody else appends: the line that is the last one now stays the one before ours. What
    claims the request, if anything does, is marked as done. Raises `Conflict` when another try has taken it over.
    """
    hold_lock(connection, Lock.AUDIT)
    last = connection.execute(select(AUDIT).order_by(AUDIT.c.number.desc()).limit(1)).first()
    line = follow(None if last is None else _line(last), entry)
    values = {
        "number": line.number,
        "at": entry.at,
        "who": entry.who,
        "what": entry.what,
        "subject": entry.subject,
        "before": entry.before,
        "after": entry.after,
        "evidence": json.dumps(entry.evidence),
        "request": entry.request,
        "previous": line.previous,
        "digest": line.digest,
    }
    connection.execute(plain_insert(AUDIT), [values])
    if entry.request:
        mark_done(connection, entry.request, entry.subject)
    return line


def write_audit_if_given(connection: Connection, entry: AuditEntry | None) -> None:
    """As `write_audit`; nothing for what the service does by itself, which no person asked for."""
    if entry is not None:
        write_audit(connection, entry)


def _line(row: AnyRow) -> AuditLine:
    entry = AuditEntry(
        at=row.at,
        who=row.who,
        what=row.what,
        subject=row.subject,
        before=row.before,
        after=row.after,
        evidence=tuple(json.loads(row.evidence)),
        request=row.request,
    )
    return AuditLine(row.number, entry, row.previous, row.digest)
