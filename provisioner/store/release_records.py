"""The releases that are kept, and who made them."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from sqlalchemy import ColumnElement, Connection, and_, or_, select, update

from profiles.release import Release
from provisioner.capabilities.promotions import ReleaseRecord
from provisioner.errors import NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.identifiers import ReleaseDigest
from provisioner.store.audit import write_audit
from provisioner.store.columns import AnyRow
from provisioner.store.database import Database
from provisioner.store.documents import RELEASES, release_values
from provisioner.store.inserts import insert_if_new

_C = RELEASES.c
_RECORD = (_C.digest, _C.name, _C.hardware_class, _C.made_at, _C.made_by)


class SqlReleaseRecords:
    """`ReleaseRecords` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def add(self, release: Release, who: str, at: datetime, *, audit: AuditEntry) -> bool:
        """As the protocol says."""
        values = {**release_values(release), "made_at": at, "made_by": who}
        return await self._database.write(partial(_add, values=values, audit=audit))

    async def record(self, digest: ReleaseDigest) -> ReleaseRecord:
        """As the protocol says."""
        query = select(*_RECORD).where(_C.digest == digest)
        row = await self._database.read_row(lambda connection: connection.execute(query).first())
        if row is None:
            raise NotFound(f"no release has the digest {digest}")
        return _record(row)

    async def page(
        self, hardware_class: str | None, after: ReleaseDigest | None, limit: int
    ) -> Sequence[ReleaseRecord]:
        """As the protocol says."""
        return await self._database.read(partial(_page, hardware_class=hardware_class, after=after, limit=limit))


def _add(connection: Connection, *, values: dict[str, object], audit: AuditEntry) -> bool:
    """One that the site's configuration brought has no maker yet: who makes it is its maker from now on."""
    if insert_if_new(connection, table=RELEASES, values=values):
        write_audit(connection, audit)
        return True
    unclaimed = update(RELEASES).where(_C.digest == values["digest"], _C.made_at.is_(None))
    claimed = connection.execute(unclaimed.values(made_at=values["made_at"], made_by=values["made_by"])).rowcount > 0
    if claimed:
        write_audit(connection, audit)
    return False


def _page(
    connection: Connection, *, hardware_class: str | None, after: ReleaseDigest | None, limit: int
) -> list[ReleaseRecord]:
    query = select(*_RECORD).order_by(_C.made_at.desc().nulls_last(), _C.digest).limit(limit)
    if hardware_class is not None:
        query = query.where(_C.hardware_class == hardware_class)
    if after is not None:
        query = query.where(_behind(connection, after))
    return [_record(row) for row in connection.execute(query)]


def _behind(connection: Connection, after: ReleaseDigest) -> ColumnElement[bool]:
    last = connection.execute(select(_C.digest, _C.made_at).where(_C.digest == after)).first()
    if last is None:
        raise NotFound(f"no release has the digest {after}")
    if last.made_at is None:
        return and_(_C.made_at.is_(None), _C.digest > last.digest)
    same_moment = and_(_C.made_at == last.made_at, _C.digest > last.digest)
    return or_(_C.made_at < last.made_at, same_moment, _C.made_at.is_(None))


def _record(row: AnyRow) -> ReleaseRecord:
    return ReleaseRecord(ReleaseDigest(row.digest), row.name, row.hardware_class, row.made_at, row.made_by)
