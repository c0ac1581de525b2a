"""Webhooks and dead letters."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
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

from provisioner.capabilities.cipher import Cipher
from provisioner.errors import NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.secret import Secret
from provisioner.models.webhook import DeadLetter, Webhook
from provisioner.store.audit import write_audit_if_given
from provisioner.store.columns import AnyRow, UtcDateTime
from provisioner.store.database import Database
from provisioner.store.events import EVENTS
from provisioner.store.metadata import METADATA


class WebhookColumns(TypedColumns):
    """One row per webhook. `types`: words between spaces."""

    id: Named[str] = Column(Text, primary_key=True)
    url: Named[str] = Column(Text)
    types: Named[str] = Column(Text)
    secret: Named[bytes] = Column(LargeBinary)
    who: Named[str] = Column(Text)
    created_at: Named[datetime] = Column(UtcDateTime)
    cursor: Named[int] = Column(BigInteger)
    tries: Named[int] = Column(Integer)
    next_try_at: Named[datetime | None] = Column(UtcDateTime)
    last_error: Named[str] = Column(Text)
    holder: Named[str | None] = Column(Text)
    leased_until: Named[datetime | None] = Column(UtcDateTime)


class DeadLetterColumns(TypedColumns):
    """One row per event that a webhook did not take."""

    number: Named[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    webhook: Named[str] = Column(Text, ForeignKey("webhooks.id"), nullable=False)
    event: Named[int] = Column(BigInteger)
    at: Named[datetime] = Column(UtcDateTime)
    error: Named[str] = Column(Text)
    body: Named[str] = Column(Text)
    redeliver: Named[bool] = Column(Boolean)


WEBHOOKS = Table("webhooks", METADATA, WebhookColumns)
DEAD_LETTERS = Table(
    "webhook_dead_letters",
    METADATA,
    DeadLetterColumns,
    Index(None, "webhook", "number"),
    sqlite_autoincrement=True,
)
_W, _D = WEBHOOKS.c, DEAD_LETTERS.c


class SqlWebhooks:
    """`Webhooks` in SQL."""

    def __init__(self, database: Database, cipher: Cipher) -> None:
        """Reads and writes `database`."""
        self._database = database
        self._cipher = cipher

    async def add(self, webhook: Webhook, secret: Secret, *, audit: AuditEntry | None = None) -> None:
        """As the protocol says."""
        sealed = self._cipher.encrypt(secret.reveal().encode())
        await self._database.write(partial(_add, webhook=webhook, sealed=sealed, audit=audit))

    async def all(self) -> Sequence[Webhook]:
        """As the protocol says."""
        query = select(WEBHOOKS).order_by(_W.created_at, _W.id)
        return [_webhook(row) for row in await self._database.read(lambda one: one.execute(query).all())]

    async def get(self, name: str) -> Webhook:
        """As the protocol says."""
        return _webhook(await self._database.read(partial(_row, name=name)))

    async def secret(self, name: str) -> Secret:
        """As the protocol says."""
        row = await self._database.read(partial(_row, name=name))
        return Secret(self._cipher.decrypt(row.secret).decode())

    async def remove(self, name: str, *, audit: AuditEntry | None = None) -> None:
        """As the protocol says."""
        await self._database.write(partial(_remove, name=name, audit=audit))

    async def take(self, name: str, holder: str, now: datetime, until: datetime) -> Webhook | None:
        """As the protocol says."""
        free = _W.leased_until.is_(None) | (_W.leased_until < now) | (_W.holder == holder)
        statement = update(WEBHOOKS).where(_W.id == name, free).values(holder=holder, leased_until=until)
        row = await self._database.write(lambda one: one.execute(statement.returning(*_W)).first())
        return None if row is None else _webhook(row)

    async def settle(self, webhook: Webhook, holder: str, *, buried: DeadLetter | None = None) -> bool:
        """As the protocol says."""
        return await self._database.write(partial(_settle, webhook=webhook, holder=holder, buried=buried))

    async def leave(self, name: str, holder: str) -> None:
        """As the protocol says."""
        mine = (_W.id == name, _W.holder == holder)
        statement = update(WEBHOOKS).where(*mine).values(holder=None, leased_until=None)
        await self._database.write(lambda one: one.execute(statement))

    async def letters(self, name: str, after: int, limit: int) -> Sequence[DeadLetter]:
        """As the protocol says."""
        query = select(DEAD_LETTERS).where(_D.webhook == name, _D.number > after).order_by(_D.number).limit(limit)
        return [_letter(row) for row in await self._database.read(lambda one: one.execute(query).all())]

    async def redeliver(self, name: str, number: int, *, audit: AuditEntry | None = None) -> DeadLetter:
        """As the protocol says."""
        return await self._database.write(partial(_redeliver, name=name, number=number, audit=audit))

    async def answered(self, letter: DeadLetter, error: str) -> None:
        """As the protocol says."""
        this = _D.number == letter.number
        again = update(DEAD_LETTERS).where(this).values(redeliver=False, error=error)
        statement = again if error else delete(DEAD_LETTERS).where(this)
        await self._database.write(lambda one: one.execute(statement))


def _add(connection: Connection, *, webhook: Webhook, sealed: bytes, audit: AuditEntry | None) -> None:
    newest = connection.scalar(select(func.max(EVENTS.c.id))) or 0
    values = {
        "id": webhook.id,
        "url": webhook.url,
        "types": " ".join(sorted(webhook.types)),
        "secret": sealed,
        "who": webhook.who,
        "created_at": webhook.created_at,
        **_standing(webhook),
        "cursor": newest,
    }
    connection.execute(plain_insert(WEBHOOKS), [values])
    write_audit_if_given(connection, audit)


def _remove(connection: Connection, *, name: str, audit: AuditEntry | None) -> None:
    _row(connection, name=name)
    connection.execute(delete(DEAD_LETTERS).where(_D.webhook == name))
    connection.execute(delete(WEBHOOKS).where(_W.id == name))
    write_audit_if_given(connection, audit)


def _settle(connection: Connection, *, webhook: Webhook, holder: str, buried: DeadLetter | None) -> bool:
    statement = update(WEBHOOKS).where(_W.id == webhook.id, _W.holder == holder).values(_standing(webhook))
    if connection.execute(statement).rowcount == 0:
        return False
    if buried is not None:
        values = {
            "webhook": buried.webhook,
            "event": buried.event,
            "at": buried.at,
            "error": buried.error,
            "body": buried.body,
            "redeliver": False,
        }
        connection.execute(plain_insert(DEAD_LETTERS), [values])
    return True


def _redeliver(connection: Connection, *, name: str, number: int, audit: AuditEntry | None) -> DeadLetter:
    this = (_D.webhook == name, _D.number == number)
    statement = update(DEAD_LETTERS).where(*this).values(redeliver=True).returning(*_D)
    row = connection.execute(statement).first()
    if row is None:
        raise NotFound(f"webhook {name} has no dead letter {number}")
    write_audit_if_given(connection, audit)
    return _letter(row)


def _row(connection: Connection, *, name: str) -> AnyRow:
    row = connection.execute(select(WEBHOOKS).where(_W.id == name)).first()
    if row is None:
        raise NotFound(f"no webhook is called {name}")
    return row


def _standing(webhook: Webhook) -> dict[str, Any]:
    return {
        "cursor": webhook.cursor,
        "tries": webhook.tries,
        "next_try_at": webhook.next_try_at,
        "last_error": webhook.last_error,
    }


def _webhook(row: AnyRow) -> Webhook:
    return Webhook(
        id=row.id,
        url=row.url,
        types=frozenset(row.types.split()),
        who=row.who,
        created_at=row.created_at,
        cursor=row.cursor,
        tries=row.tries,
        next_try_at=row.next_try_at,
        last_error=row.last_error,
    )


def _letter(row: AnyRow) -> DeadLetter:
    return DeadLetter(
        webhook=row.webhook,
        event=row.event,
        at=row.at,
        error=row.error,
        body=row.body,
        number=row.number,
        redeliver=row.redeliver,
    )
