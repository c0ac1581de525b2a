"""Soaks in SQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Connection, func, select, update

from provisioner.models.identifiers import ReleaseDigest
from provisioner.promotion.soak import Sighting, Soak
from provisioner.store.database import Database
from provisioner.store.inserts import insert, insert_if_new
from provisioner.store.promotion_tables import NODE_SOAKS, SOAK_TURN, SOAKS

_HOUR = timedelta(hours=1).total_seconds()
_BATCH = 500
"""Rows per statement."""
_ONLY = 1


class SqlSoaks:
    """`Soaks` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def turn(self) -> datetime | None:
        """As the protocol says."""
        query = select(SOAK_TURN.c.at).where(SOAK_TURN.c.id == _ONLY)
        return await self._database.read(lambda connection: connection.scalar(query))

    async def grow(self, seen: datetime | None, at: datetime, sightings: Sequence[Sighting], grown: timedelta) -> bool:
        """As the protocol says."""
        seconds = grown.total_seconds()
        return await self._database.write(partial(_grow, seen=seen, at=at, sightings=sightings, seconds=seconds))

    async def of(self, releases: Sequence[ReleaseDigest]) -> Mapping[ReleaseDigest, Soak]:
        """As the protocol says."""
        return await self._database.read(partial(_of, releases=releases))


def _grow(
    connection: Connection, *, seen: datetime | None, at: datetime, sightings: Sequence[Sighting], seconds: float
) -> bool:
    if seen is None:
        taken = insert_if_new(connection, table=SOAK_TURN, values={"id": _ONLY, "at": at})
    else:
        as_seen = update(SOAK_TURN).where(SOAK_TURN.c.id == _ONLY, SOAK_TURN.c.at == seen)
        taken = connection.execute(as_seen.values(at=at)).rowcount > 0
    if not taken or seconds <= 0 or not sightings:
        return taken
    rows = [{"release": one.release, "node": one.node, "domain": one.domain, "seconds": seconds} for one in sightings]
    for start in range(0, len(rows), _BATCH):
        more = insert(connection, NODE_SOAKS).values(rows[start : start + _BATCH])
        added = {"seconds": NODE_SOAKS.c.seconds + more.excluded.seconds, "domain": more.excluded.domain}
        connection.execute(more.on_conflict_do_update(index_elements=["release", "node"], set_=added))
    for release in sorted({one.release for one in sightings}):
        more = insert(connection, SOAKS).values(release=release, seconds=seconds)
        added = {"seconds": SOAKS.c.seconds + more.excluded.seconds}
        connection.execute(more.on_conflict_do_update(index_elements=["release"], set_=added))
    return True


def _of(connection: Connection, *, releases: Sequence[ReleaseDigest]) -> dict[ReleaseDigest, Soak]:
    found = dict.fromkeys(releases, Soak())
    columns = NODE_SOAKS.c
    counts = (func.sum(columns.seconds), func.count(columns.domain.distinct()), func.count())
    for start in range(0, len(releases), _BATCH):
        some = releases[start : start + _BATCH]
        hours = dict(
            connection.execute(select(SOAKS.c.release, SOAKS.c.seconds).where(SOAKS.c.release.in_(some))).all()
        )
        query = select(columns.release, *counts).where(columns.release.in_(some)).group_by(columns.release)
        for release, seconds, domains, nodes in connection.execute(query):
            found[ReleaseDigest(release)] = Soak(hours.get(release, 0.0) / _HOUR, seconds / _HOUR, domains, nodes)
    return found
