"""Hosts that asked for an address or for something to boot."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from sqlalchemy import (
    Column,
    Connection,
    Index,
    Named,
    Table,
    Text,
    TypedColumns,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)

from provisioner.discovery.found import tidy
from provisioner.models.found_host import FoundHost, HostHow, Lease
from provisioner.placement.macs import canonical
from provisioner.store.columns import AnyRow, UtcDateTime
from provisioner.store.database import Database
from provisioner.store.found_bmcs import FOUND_BMCS
from provisioner.store.inserts import upsert
from provisioner.store.metadata import METADATA
from provisioner.store.node_macs import NODE_MACS
from provisioner.store.node_table import NODES

MOST = 50_000
"""Anybody on the network may ask under any number of MACs: the ones seen longest ago go first."""


class FoundHostColumns(TypedColumns):
    """One row per card. `leased_at` and `leased_until` are of the lease that gave `address`."""

    mac: Named[str] = Column(Text, primary_key=True)
    address: Named[str] = Column(Text)
    client_class: Named[str] = Column(Text)
    uuid: Named[str] = Column(Text)
    serial: Named[str] = Column(Text)
    how: Named[str] = Column(Text)
    first_seen: Named[datetime] = Column(UtcDateTime)
    last_seen: Named[datetime] = Column(UtcDateTime)
    leased_at: Named[datetime | None] = Column(UtcDateTime)
    leased_until: Named[datetime | None] = Column(UtcDateTime)


FOUND_HOSTS = Table("found_hosts", METADATA, FoundHostColumns, Index(None, "address"), Index(None, "last_seen"))

_BY_ADDRESS = (
    select(FOUND_HOSTS.c.mac)
    .where(FOUND_HOSTS.c.address == bindparam("leased"), FOUND_HOSTS.c.leased_at.is_not(None))
    .order_by(FOUND_HOSTS.c.leased_at.desc())
    .limit(1)
)
"""Made once: firmware that was told by DHCP what to fetch says no more than its address."""


class SqlHosts:
    """`Hosts` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def note(self, host: FoundHost) -> bool:
        """Add to what is known; True when this MAC is new."""
        mac = canonical(host.mac)
        if not mac:
            return False
        return await self._database.write(partial(_note, host=replace(host, mac=mac)))

    async def take_leases(self, leases: Sequence[Lease]) -> Sequence[Lease]:
        """Note hosts by their leases; those whose MAC is new, or has another address than before."""
        return await self._database.write(partial(_take_leases, leases=leases)) if leases else ()

    async def release(self, mac: str, address: str) -> None:
        """The lease has ended."""
        columns = FOUND_HOSTS.c
        ended = update(FOUND_HOSTS).where(columns.mac == canonical(mac), columns.address == address)
        without = ended.values(leased_at=None, leased_until=None)
        await self._database.write(lambda connection: connection.execute(without).rowcount)

    async def all(self) -> Sequence[FoundHost]:
        """By MAC."""
        query = select(FOUND_HOSTS).order_by(FOUND_HOSTS.c.mac)
        return await self._database.read(lambda connection: [_found(row) for row in connection.execute(query)])

    async def strangers(self) -> Sequence[FoundHost]:
        """Those that belong to no node, and are no BMC that was found."""
        columns = FOUND_HOSTS.c
        known = or_(
            columns.mac.in_(select(NODE_MACS.c.mac)),
            func.lower(columns.uuid).in_(select(NODES.c.uuid_key).where(NODES.c.uuid_key.is_not(None))),
            func.lower(columns.serial).in_(select(NODES.c.serial_key).where(NODES.c.serial_key.is_not(None))),
            columns.address.in_(select(NODES.c.bmc_host)),
            columns.address.in_(select(FOUND_BMCS.c.address)),
        )
        query = select(FOUND_HOSTS).where(~known).order_by(columns.mac)
        return await self._database.read(lambda connection: [_found(row) for row in connection.execute(query)])

    async def by_address(self, address: str) -> str | None:
        """The MAC that got this address last from our DHCP server."""
        said = {"leased": address}
        row = await self._database.read_row(lambda connection: connection.execute(_BY_ADDRESS, said).first())
        return None if row is None else str(row.mac)

    async def leased(self, now: datetime) -> Collection[str]:
        """The addresses that are given out now."""
        columns = FOUND_HOSTS.c
        lasting = or_(columns.leased_until.is_(None), columns.leased_until > now)
        query = select(columns.address).where(columns.leased_at.is_not(None), lasting)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return frozenset(row.address for row in rows)

    async def forget(self, before: datetime) -> int:
        """Delete what was last seen before; how many."""
        statement = delete(FOUND_HOSTS).where(FOUND_HOSTS.c.last_seen < before)
        return await self._database.write(lambda connection: connection.execute(statement).rowcount)


def _note(connection: Connection, *, host: FoundHost) -> bool:
    row = connection.execute(select(FOUND_HOSTS).where(FOUND_HOSTS.c.mac == host.mac)).first()
    said = {
        "client_class": tidy(host.client_class),
        "uuid": tidy(host.uuid).lower(),
        "serial": tidy(host.serial),
        "address": tidy(host.address),
    }
    if row is None:
        seen = {"how": host.how.value, "first_seen": host.first_seen, "last_seen": host.last_seen}
        upsert(connection, table=FOUND_HOSTS, values={"mac": host.mac, **said, **seen})
        _make_room(connection)
        return True
    if row.leased_at is not None:
        del said["address"]
    said = {name: value for name, value in said.items() if value}
    times = {"first_seen": min(row.first_seen, host.first_seen), "last_seen": max(row.last_seen, host.last_seen)}
    connection.execute(update(FOUND_HOSTS).where(FOUND_HOSTS.c.mac == host.mac).values(**said, **times))
    return False


def _take_leases(connection: Connection, *, leases: Sequence[Lease]) -> list[Lease]:
    news = []
    for lease in leases:
        mac = canonical(lease.mac)
        if not mac:
            continue
        row = connection.execute(select(FOUND_HOSTS).where(FOUND_HOSTS.c.mac == mac)).first()
        if row is not None and row.leased_at is not None and row.leased_at > lease.at:
            continue
        host = FoundHost(mac, lease.address, lease.client_class, "", "", HostHow.DHCP, lease.at, lease.at)
        if _note(connection, host=host) or row is None or row.address != lease.address or row.leased_at is None:
            news.append(lease)
        values = {"address": lease.address, "leased_at": lease.at, "leased_until": lease.until}
        connection.execute(update(FOUND_HOSTS).where(FOUND_HOSTS.c.mac == mac).values(values))
    return news


def _make_room(connection: Connection) -> None:
    count = connection.execute(select(func.count()).select_from(FOUND_HOSTS)).scalar_one()
    if count > MOST:
        oldest = select(FOUND_HOSTS.c.mac).order_by(FOUND_HOSTS.c.last_seen).limit(count - MOST + MOST // 100)
        connection.execute(delete(FOUND_HOSTS).where(FOUND_HOSTS.c.mac.in_(oldest)))


def _found(row: AnyRow) -> FoundHost:
    return FoundHost(
        mac=row.mac,
        address=row.address,
        client_class=row.client_class,
        uuid=row.uuid,
        serial=row.serial,
        how=HostHow(row.how),
        first_seen=row.first_seen,
        last_seen=row.last_seen,
    )
