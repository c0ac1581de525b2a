"""Boot tickets. Key and token are found by their hash and kept encrypted, so that they can be served again."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, update

from provisioner.capabilities.cipher import Cipher
from provisioner.errors import Conflict, NotFound
from provisioner.models.boot import BootFailure, BootTicket
from provisioner.models.identifiers import NodeName
from provisioner.models.secret import Secret
from provisioner.store.boot_askers import SqlBootAskers
from provisioner.store.boot_counts import BootCounts, Count
from provisioner.store.boot_tickets import (
    BOOT_TICKETS,
    failures_in,
    failures_json,
    newest,
    newest_of,
    same,
    ticket_of,
    values_of,
    with_token,
)
from provisioner.store.columns import AnyRow
from provisioner.store.database import Database
from provisioner.store.hashes import sha256
from provisioner.store.inserts import insert_if_new


class SqlBoots:
    """`Boots` in SQL."""

    def __init__(self, database: Database, cipher: Cipher) -> None:
        """Keys and tokens reach `database` only through `cipher` or as hashes."""
        self._database = database
        self._cipher = cipher
        self._counts = BootCounts(database)
        self.askers = SqlBootAskers(database, cipher)

    async def open(self, ticket: BootTicket) -> BootTicket:
        """Keep a new ticket, or the one that is there for the same node, generation and attempt."""
        values = values_of(ticket, self._cipher)
        row = await self._database.write(partial(_open, ticket=ticket, values=values))
        return ticket_of(row, self._cipher)

    async def latest(self, node: NodeName) -> BootTicket | None:
        """The newest ticket of a node."""
        row = await self._database.read_row(partial(newest_of, node=node))
        return None if row is None else ticket_of(row, self._cipher)

    async def by_token(self, token: Secret) -> BootTicket | None:
        """The ticket with this agent token."""
        row = await self._database.read_row(partial(with_token, token_hash=sha256(token)))
        return None if row is None else ticket_of(row, self._cipher)

    async def served(self, ticket: BootTicket, *, program: bool = False) -> None:
        """Count one answer of the boot endpoint; `program`: it was the one for UEFI. Raises `NotFound`."""
        await self._counts.add(Count(ticket, served=1, programs=int(program)))

    async def asked(self, ticket: BootTicket) -> None:
        """Count an initrd that asked for its words. Raises `NotFound`."""
        await self._counts.add(Count(ticket, asked=1))

    async def allow(self, ticket: BootTicket, most_served: int) -> BootTicket:
        """It may be served so often, or more often if that was allowed before. Raises `NotFound`."""
        fewer = BOOT_TICKETS.c.most_served < most_served
        change = update(BOOT_TICKETS).where(same(ticket), fewer).values(most_served=most_served)
        return ticket_of(await self._database.write(partial(_change, ticket=ticket, change=change)), self._cipher)

    async def refused(self, ticket: BootTicket, target: str) -> None:
        """The BMC refused this boot target; again is nothing. Raises `NotFound`."""
        await self._database.write(partial(_refuse, ticket=ticket, target=target))

    async def failed(self, ticket: BootTicket, failure: BootFailure) -> None:
        """An initrd reports; another report of the same boot is nothing. Raises `NotFound`."""
        await self._database.write(partial(_fail, ticket=ticket, failure=failure))

    async def registered(self, ticket: BootTicket, boot_id: str, image: str, root: str, at: datetime) -> BootTicket:
        """The agent reports; again is nothing. Raises `NotFound`, and `Conflict` when another boot used the token."""
        values = {"boot_id": boot_id, "registered_at": at, "booted_image": image, "booted_root": root}
        row = await self._database.write(partial(_register, ticket=ticket, values=values))
        return ticket_of(row, self._cipher)


def _open(connection: Connection, *, ticket: BootTicket, values: Mapping[str, Any]) -> AnyRow:
    insert_if_new(connection, table=BOOT_TICKETS, values=values)
    row = newest(connection, which=same(ticket))
    if row is None:
        raise Conflict("another boot has the same key or token")
    return row


def _register(connection: Connection, *, ticket: BootTicket, values: Mapping[str, Any]) -> AnyRow:
    unused = BOOT_TICKETS.c.boot_id.is_(None)
    row = _change(connection, ticket=ticket, change=update(BOOT_TICKETS).where(same(ticket), unused).values(**values))
    if row.boot_id != values["boot_id"]:
        raise Conflict(f"{ticket.node}: boot {row.boot_id} has used this token already")
    return row


def _refuse(connection: Connection, *, ticket: BootTicket, target: str) -> None:
    known = _locked(connection, ticket).refused.split()
    if target not in known:
        change = update(BOOT_TICKETS).where(same(ticket)).values(refused=" ".join([*known, target]))
        connection.execute(change)


def _fail(connection: Connection, *, ticket: BootTicket, failure: BootFailure) -> None:
    row = _locked(connection, ticket)
    known = failures_in(row.failures)
    if not any(one.served == row.served for one in known):
        told = BootFailure(failure.kind, failure.detail, failure.at, row.served)
        change = update(BOOT_TICKETS).where(same(ticket)).values(failures=failures_json((*known, told)))
        connection.execute(change)


def _locked(connection: Connection, ticket: BootTicket) -> AnyRow:
    """Nobody else changes the row until this transaction ends."""
    same_value = update(BOOT_TICKETS).where(same(ticket)).values(attempt=ticket.attempt)
    return _change(connection, ticket=ticket, change=same_value)


def _change(connection: Connection, *, ticket: BootTicket, change: Any) -> AnyRow:
    """The row after the change, which may have found nothing to do."""
    connection.execute(change)
    row = newest(connection, which=same(ticket))
    if row is None:
        raise NotFound(f"{ticket.node} has no such boot ticket")
    return row
