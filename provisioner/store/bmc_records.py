"""What is remembered per BMC: refused logins, the certificate seen first, and who may write now."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Column, Connection, Integer, Named, Table, Text, TypedColumns, delete, func, or_, select

from provisioner.models.audit import AuditEntry
from provisioner.store.audit import write_audit_if_given
from provisioner.store.columns import UtcDateTime
from provisioner.store.database import Database
from provisioner.store.inserts import insert, insert_if_new
from provisioner.store.metadata import METADATA


class LoginFailureColumns(TypedColumns):
    """Refusals in a row."""

    bmc: Named[str] = Column(Text, primary_key=True)
    username: Named[str] = Column(Text, primary_key=True)
    count: Named[int] = Column(Integer)
    last_at: Named[datetime] = Column(UtcDateTime)


class CertificateColumns(TypedColumns):
    """SHA-256 fingerprints, hex."""

    bmc: Named[str] = Column(Text, primary_key=True)
    fingerprint: Named[str] = Column(Text)


class LeaseColumns(TypedColumns):
    """Who may write, and until when."""

    bmc: Named[str] = Column(Text, primary_key=True)
    holder: Named[str] = Column(Text)
    expires_at: Named[datetime] = Column(UtcDateTime)


LOGIN_FAILURES = Table("login_failures", METADATA, LoginFailureColumns)
CERTIFICATES = Table("pinned_certificates", METADATA, CertificateColumns)
LEASES = Table("write_leases", METADATA, LeaseColumns)


class SqlLoginFailures:
    """`LoginFailures` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def count(self, bmc: str, username: str) -> int:
        """How many logins in a row the BMC has refused."""
        columns = LOGIN_FAILURES.c
        query = select(columns["count"]).where(columns.bmc == bmc, columns.username == username)
        return await self._database.read_row(lambda connection: connection.scalar(query)) or 0

    async def record(self, bmc: str, username: str, at: datetime) -> int:
        """One more refusal; the new count."""
        values = {"bmc": bmc, "username": username, "count": 1, "last_at": at}
        return await self._database.write(partial(_count_one_more, values=values))

    async def clear(self, bmc: str, username: str) -> None:
        """A login worked, or a person says that the password is right now."""
        columns = LOGIN_FAILURES.c
        statement = delete(LOGIN_FAILURES).where(columns.bmc == bmc, columns.username == username)
        await self._database.write(lambda connection: connection.execute(statement).rowcount)


class SqlPinnedCertificates:
    """`PinnedCertificates` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def pinned(self, bmc: str) -> str | None:
        """The fingerprint that the BMC showed first; None before the first contact."""
        query = select(CERTIFICATES.c.fingerprint).where(CERTIFICATES.c.bmc == bmc)
        return await self._database.read_row(lambda connection: connection.scalar(query))

    async def pin(self, bmc: str, fingerprint: str) -> None:
        """Remember it. A fingerprint that is already there stays."""
        values = {"bmc": bmc, "fingerprint": fingerprint}
        await self._database.write(partial(insert_if_new, table=CERTIFICATES, values=values))

    async def forget(self, bmc: str, *, audit: AuditEntry | None = None) -> None:
        """A person trusts the BMC's new certificate: the next one shown is pinned."""
        await self._database.write(partial(_forget, bmc=bmc, audit=audit))


class SqlWriteLeases:
    """`WriteLeases` in SQL, by the clock of the PostgreSQL server, or of the one machine that has the SQLite file."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def acquire(self, bmc: str, holder: str, seconds: float) -> bool:
        """True when `holder` has it now, for `seconds`; taking it again extends it."""
        return await self._database.write(partial(_acquire, bmc=bmc, holder=holder, seconds=seconds))

    async def release(self, bmc: str, holder: str) -> None:
        """Give it back, if it is still `holder`'s."""
        statement = delete(LEASES).where(LEASES.c.bmc == bmc, LEASES.c.holder == holder)
        await self._database.write(lambda connection: connection.execute(statement).rowcount)


def _forget(connection: Connection, *, bmc: str, audit: AuditEntry | None) -> None:
    connection.execute(delete(CERTIFICATES).where(CERTIFICATES.c.bmc == bmc))
    write_audit_if_given(connection, audit)


def _count_one_more(connection: Connection, *, values: Mapping[str, Any]) -> int:
    statement = insert(connection, LOGIN_FAILURES).values(values)
    count = LOGIN_FAILURES.c["count"]
    more = statement.on_conflict_do_update(
        index_elements=["bmc", "username"], set_={"count": count + 1, "last_at": values["last_at"]}
    )
    return int(connection.execute(more.returning(count)).scalar_one())


def _acquire(connection: Connection, *, bmc: str, holder: str, seconds: float) -> bool:
    now = _now(connection)
    values = {"holder": holder, "expires_at": now + timedelta(seconds=seconds)}
    is_free = or_(LEASES.c.holder == holder, LEASES.c.expires_at <= now)
    statement = insert(connection, LEASES).values(bmc=bmc, **values)
    taken = statement.on_conflict_do_update(index_elements=["bmc"], set_=values, where=is_free)
    return connection.execute(taken.returning(LEASES.c.bmc)).first() is not None


def _now(connection: Connection) -> datetime:
    if connection.dialect.name == "postgresql":
        return connection.execute(select(func.clock_timestamp(type_=UtcDateTime))).scalar_one()
    return datetime.now(UTC)
