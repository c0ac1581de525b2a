"""Boot tickets. Key and token are found by their hash and kept encrypted, so that they can be served again."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    LargeBinary,
    Named,
    Table,
    Text,
    TypedColumns,
    select,
    update,
)

from provisioner.capabilities.cipher import Cipher
from provisioner.errors import Conflict, NotFound
from provisioner.models.boot import BootTicket
from provisioner.models.identifiers import NodeName
from provisioner.models.secret import Secret
from provisioner.store.columns import AnyRow, UtcDateTime, node_column
from provisioner.store.database import Database
from provisioner.store.hashes import sha256
from provisioner.store.inserts import insert_if_new
from provisioner.store.metadata import METADATA


class BootTicketColumns(TypedColumns):
    """One row per ticket."""

    node: Named[str] = node_column(primary_key=True)
    generation: Named[int] = Column(Integer, primary_key=True)
    attempt: Named[int] = Column(Integer, primary_key=True)
    key_hash: Named[bytes] = Column(LargeBinary, unique=True)
    key: Named[bytes] = Column(LargeBinary)
    token_hash: Named[bytes] = Column(LargeBinary, unique=True)
    token: Named[bytes] = Column(LargeBinary)
    image: Named[str] = Column(Text)
    root: Named[str] = Column(Text)
    served: Named[int] = Column(Integer)
    boot_id: Named[str | None] = Column(Text)
    registered_at: Named[datetime | None] = Column(UtcDateTime)
    booted_image: Named[str | None] = Column(Text)
    booted_root: Named[str | None] = Column(Text)


BOOT_TICKETS = Table("boot_tickets", METADATA, BootTicketColumns)


class SqlBoots:
    """`Boots` in SQL."""

    def __init__(self, database: Database, cipher: Cipher) -> None:
        """Keys and tokens reach `database` only through `cipher` or as hashes."""
        self._database = database
        self._cipher = cipher

    async def open(self, ticket: BootTicket) -> BootTicket:
        """Keep a new ticket, or the one that is there for the same node, generation and attempt."""
        row = await self._database.write(partial(_open, values=self._values(ticket)))
        return self._ticket(row)

    async def latest(self, node: NodeName) -> BootTicket | None:
        """The newest ticket of a node."""
        return await self._first(BOOT_TICKETS.c.node == node)

    async def by_key(self, key: Secret) -> BootTicket | None:
        """The ticket with this boot key."""
        return await self._first(BOOT_TICKETS.c.key_hash == sha256(key))

    async def by_token(self, token: Secret) -> BootTicket | None:
        """The ticket with this agent token."""
        return await self._first(BOOT_TICKETS.c.token_hash == sha256(token))

    async def served(self, ticket: BootTicket) -> None:
        """Count one answer of the boot endpoint. Raises `NotFound`."""
        await self._database.write(partial(_serve, ticket=ticket))

    async def registered(self, ticket: BootTicket, boot_id: str, image: str, root: str, at: datetime) -> BootTicket:
        """The agent reports; again is nothing. Raises `NotFound`, and `Conflict` when another boot used the token."""
        values = {"boot_id": boot_id, "registered_at": at, "booted_image": image, "booted_root": root}
        return self._ticket(await self._database.write(partial(_register, ticket=ticket, values=values)))

    async def _first(self, which: ColumnElement[bool]) -> BootTicket | None:
        row = await self._database.read_row(partial(_newest, which=which))
        return None if row is None else self._ticket(row)

    def _values(self, ticket: BootTicket) -> Mapping[str, Any]:
        return {
            "node": ticket.node,
            "generation": ticket.generation,
            "attempt": ticket.attempt,
            "key_hash": sha256(ticket.key),
            "key": self._cipher.encrypt(ticket.key.reveal().encode()),
            "token_hash": sha256(ticket.token),
            "token": self._cipher.encrypt(ticket.token.reveal().encode()),
            "image": ticket.image,
            "root": ticket.root,
            "served": ticket.served,
            "boot_id": ticket.boot_id,
            "registered_at": ticket.registered_at,
            "booted_image": ticket.booted_image,
            "booted_root": ticket.booted_root,
        }

    def _ticket(self, row: AnyRow) -> BootTicket:
        return BootTicket(
            node=NodeName(row.node),
            generation=row.generation,
            attempt=row.attempt,
            key=Secret(self._cipher.decrypt(row.key).decode()),
            token=Secret(self._cipher.decrypt(row.token).decode()),
            image=row.image,
            root=row.root,
            served=row.served,
            boot_id=row.boot_id,
            registered_at=row.registered_at,
            booted_image=row.booted_image,
            booted_root=row.booted_root,
        )


def _open(connection: Connection, *, values: Mapping[str, Any]) -> AnyRow:
    insert_if_new(connection, table=BOOT_TICKETS, values=values)
    run = (values["node"], values["generation"], values["attempt"])
    row = _newest(connection, which=_of_run(*run))
    if row is None:
        raise Conflict("another boot has the same key or token")
    return row


def _serve(connection: Connection, *, ticket: BootTicket) -> None:
    one_more = update(BOOT_TICKETS).values(served=BOOT_TICKETS.c.served + 1)
    if connection.execute(one_more.where(_same(ticket))).rowcount == 0:
        raise NotFound(f"{ticket.node} has no such boot ticket")


def _register(connection: Connection, *, ticket: BootTicket, values: Mapping[str, Any]) -> AnyRow:
    unused = BOOT_TICKETS.c.boot_id.is_(None)
    connection.execute(update(BOOT_TICKETS).where(_same(ticket), unused).values(**values))
    row = _newest(connection, which=_same(ticket))
    if row is None:
        raise NotFound(f"{ticket.node} has no such boot ticket")
    if row.boot_id != values["boot_id"]:
        raise Conflict(f"{ticket.node}: boot {row.boot_id} has used this token already")
    return row


def _same(ticket: BootTicket) -> ColumnElement[bool]:
    return _of_run(ticket.node, ticket.generation, ticket.attempt)


def _of_run(node: NodeName, generation: int, attempt: int) -> ColumnElement[bool]:
    columns = BOOT_TICKETS.c
    return (columns.node == node) & (columns.generation == generation) & (columns.attempt == attempt)


def _newest(connection: Connection, *, which: ColumnElement[bool]) -> AnyRow | None:
    order = BOOT_TICKETS.c.generation.desc(), BOOT_TICKETS.c.attempt.desc()
    return connection.execute(select(BOOT_TICKETS).where(which).order_by(*order).limit(1)).first()
