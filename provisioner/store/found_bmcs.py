"""BMCs that were found by looking, and when somebody looked last."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial

import orjson
from sqlalchemy import Column, Connection, Integer, Named, Table, Text, TypedColumns, delete, or_, select, tuple_

from provisioner.discovery.found import remember
from provisioner.models.found_bmc import FoundBmc, How, Scan, Sighting
from provisioner.models.node import BmcAddress
from provisioner.store.columns import AnyRow, UtcDateTime
from provisioner.store.database import Database
from provisioner.store.inserts import insert
from provisioner.store.metadata import METADATA

_BATCH = 500
"""One short transaction each: others write meanwhile."""


class FoundBmcColumns(TypedColumns):
    """One row per address."""

    address: Named[str] = Column(Text, primary_key=True)
    port: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    uuid: Named[str] = Column(Text)
    vendor: Named[str] = Column(Text)
    product: Named[str] = Column(Text)
    first_seen: Named[datetime] = Column(UtcDateTime)
    last_seen: Named[datetime] = Column(UtcDateTime)
    how: Named[str] = Column(Text)


class LastScanColumns(TypedColumns):
    """One row: whose turn it is, and the last scan that came to its end."""

    id: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    claimed_at: Named[datetime] = Column(UtcDateTime)
    began_at: Named[datetime | None] = Column(UtcDateTime)
    finished_at: Named[datetime | None] = Column(UtcDateTime)
    next_at: Named[datetime | None] = Column(UtcDateTime)
    networks: Named[str | None] = Column(Text)
    port: Named[int | None] = Column(Integer)


FOUND_BMCS = Table("found_bmcs", METADATA, FoundBmcColumns)
LAST_SCAN = Table("last_scan", METADATA, LastScanColumns)
_ONLY = 1


class SqlFoundBmcs:
    """`FoundBmcs` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def all(self) -> Sequence[FoundBmc]:
        """By address and port; also those that answer no more."""
        query = select(FOUND_BMCS).order_by(FOUND_BMCS.c.address, FOUND_BMCS.c.port)
        return await self._database.read(lambda connection: [_found(row) for row in connection.execute(query)])

    async def last_scan(self) -> Scan | None:
        """The last one that came to its end; None before the first."""
        query = select(LAST_SCAN).where(LAST_SCAN.c.began_at.is_not(None))
        row = await self._database.read(lambda connection: connection.execute(query).first())
        return None if row is None else _scan(row)

    async def claim(self, at: datetime, every: timedelta) -> bool:
        """True when nobody has begun to look within `every` before `at`: it is the caller's turn."""
        return await self._database.write(partial(_claim, at=at, every=every))

    async def record(self, scan: Scan, seen: Sequence[Sighting]) -> Sequence[FoundBmc]:
        """Keep what a look around has seen, then that it is over; what is new: an address, or another board there."""
        new = await self.note(seen, scan.finished_at)
        await self._database.write(partial(_finish, scan=scan))
        return new

    async def note(self, seen: Sequence[Sighting], at: datetime) -> Sequence[FoundBmc]:
        """As `record`, beside any look around."""
        new: list[FoundBmc] = []
        for start in range(0, len(seen), _BATCH):
            batch = seen[start : start + _BATCH]
            new += await self._database.write(partial(_record, seen=batch, at=at))
        return new

    async def forget(self, before: datetime) -> int:
        """Delete what was last seen before; how many."""
        statement = delete(FOUND_BMCS).where(FOUND_BMCS.c.last_seen < before)
        return await self._database.write(lambda connection: connection.execute(statement).rowcount)


def _claim(connection: Connection, *, at: datetime, every: timedelta) -> bool:
    statement = insert(connection, LAST_SCAN).values(id=_ONLY, claimed_at=at)
    is_due = or_(LAST_SCAN.c.claimed_at <= at - every, LAST_SCAN.c.claimed_at > at)
    taken = statement.on_conflict_do_update(index_elements=["id"], set_={"claimed_at": at}, where=is_due)
    return connection.execute(taken.returning(LAST_SCAN.c.id)).first() is not None


def _record(connection: Connection, *, seen: Sequence[Sighting], at: datetime) -> list[FoundBmc]:
    """By address, so that two that record at once wait for one another in one order."""
    columns = FOUND_BMCS.c
    keys = [(one.address.host, one.address.port) for one in seen]
    rows = connection.execute(select(FOUND_BMCS).where(tuple_(columns.address, columns.port).in_(keys)))
    known = {one.address: one for one in map(_found, rows)}
    order = sorted(seen, key=lambda one: (one.address.host, one.address.port))
    kept = [remember(known.get(sighting.address), sighting, at) for sighting in order]
    statement = insert(connection, FOUND_BMCS)
    changed = {column.name: statement.excluded[column.name] for column in columns if not column.primary_key}
    more = statement.on_conflict_do_update(index_elements=["address", "port"], set_=changed)
    connection.execute(more, [_row(one) for one in kept])
    return [one for one in kept if one.first_seen == at]


def _finish(connection: Connection, *, scan: Scan) -> None:
    values = {
        "began_at": scan.began_at,
        "finished_at": scan.finished_at,
        "next_at": scan.next_at,
        "networks": orjson.dumps(scan.networks).decode(),
        "port": scan.port,
    }
    statement = insert(connection, LAST_SCAN).values(id=_ONLY, claimed_at=scan.began_at, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=values))


def _row(one: FoundBmc) -> dict[str, object]:
    return {
        "address": one.address.host,
        "port": one.address.port,
        "uuid": one.uuid,
        "vendor": one.vendor,
        "product": one.product,
        "first_seen": one.first_seen,
        "last_seen": one.last_seen,
        "how": one.how.value,
    }


def _found(row: AnyRow) -> FoundBmc:
    return FoundBmc(
        address=BmcAddress(row.address, row.port),
        uuid=row.uuid,
        vendor=row.vendor,
        product=row.product,
        first_seen=row.first_seen,
        last_seen=row.last_seen,
        how=How(row.how),
    )


def _scan(row: AnyRow) -> Scan:
    return Scan(
        began_at=row.began_at,
        finished_at=row.finished_at,
        next_at=row.next_at,
        networks=tuple(orjson.loads(row.networks)),
        port=row.port,
    )
