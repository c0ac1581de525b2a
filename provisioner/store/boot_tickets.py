"""The table of boot tickets, and what its rows mean."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
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
    bindparam,
    select,
)

from provisioner.capabilities.cipher import Cipher
from provisioner.models.boot import BootFailure, BootTicket
from provisioner.models.identifiers import NodeName
from provisioner.models.secret import Secret
from provisioner.store.columns import AnyRow, UtcDateTime, node_column
from provisioner.store.hashes import sha256
from provisioner.store.metadata import METADATA

_FAILURES: TypeAdapter[tuple[BootFailure, ...]] = TypeAdapter(tuple[BootFailure, ...])


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
    most_served: Named[int] = Column(Integer)
    programs: Named[int] = Column(Integer)
    asked: Named[int] = Column(Integer)
    refused: Named[str] = Column(Text)
    failures: Named[str] = Column(Text)


BOOT_TICKETS = Table("boot_tickets", METADATA, BootTicketColumns)
"""`refused`: boot targets with spaces between. `failures`: JSON of `BootFailure`s."""

_NEWEST_FIRST = (BOOT_TICKETS.c.generation.desc(), BOOT_TICKETS.c.attempt.desc())
_OF_NODE = select(BOOT_TICKETS).where(BOOT_TICKETS.c.node == bindparam("name")).order_by(*_NEWEST_FIRST).limit(1)
_OF_TOKEN = select(BOOT_TICKETS).where(BOOT_TICKETS.c.token_hash == bindparam("token_hash"))
"""Made once, as what agents say begins with them."""


def newest_of(connection: Connection, *, node: NodeName) -> AnyRow | None:
    """The newest ticket of a node."""
    return connection.execute(_OF_NODE, {"name": node}).first()


def with_token(connection: Connection, *, token_hash: bytes) -> AnyRow | None:
    """The ticket of a token."""
    return connection.execute(_OF_TOKEN, {"token_hash": token_hash}).first()


def newest(connection: Connection, *, which: ColumnElement[bool]) -> AnyRow | None:
    """The newest of the tickets that fit."""
    return connection.execute(select(BOOT_TICKETS).where(which).order_by(*_NEWEST_FIRST).limit(1)).first()


def same(ticket: BootTicket) -> ColumnElement[bool]:
    """This ticket's row."""
    columns = BOOT_TICKETS.c
    run = (columns.generation == ticket.generation) & (columns.attempt == ticket.attempt)
    return (columns.node == ticket.node) & run


def values_of(ticket: BootTicket, cipher: Cipher) -> Mapping[str, Any]:
    """A row."""
    return {
        "node": ticket.node,
        "generation": ticket.generation,
        "attempt": ticket.attempt,
        "key_hash": sha256(ticket.key),
        "key": cipher.encrypt(ticket.key.reveal().encode()),
        "token_hash": sha256(ticket.token),
        "token": cipher.encrypt(ticket.token.reveal().encode()),
        "image": ticket.image,
        "root": ticket.root,
        "served": ticket.served,
        "boot_id": ticket.boot_id,
        "registered_at": ticket.registered_at,
        "booted_image": ticket.booted_image,
        "booted_root": ticket.booted_root,
        "most_served": ticket.most_served,
        "programs": ticket.programs,
        "asked": ticket.asked,
        "refused": " ".join(ticket.refused),
        "failures": failures_json(ticket.failures),
    }


def ticket_of(row: Sequence[Any], cipher: Cipher) -> BootTicket:
    """The ticket in a row, in the order of the columns. Key and token stay encrypted until they are needed."""
    return BootTicket(
        node=NodeName(row[0]),
        generation=row[1],
        attempt=row[2],
        key=_sealed(row[4], cipher),
        token=_sealed(row[6], cipher),
        image=row[7],
        root=row[8],
        served=row[9],
        boot_id=row[10],
        registered_at=row[11],
        booted_image=row[12],
        booted_root=row[13],
        most_served=row[14],
        programs=row[15],
        asked=row[16],
        refused=tuple(row[17].split()),
        failures=failures_in(row[18]),
    )


def _sealed(sealed: bytes, cipher: Cipher) -> Secret:
    return Secret.sealed(lambda: cipher.decrypt(sealed).decode())


def failures_in(document: str) -> tuple[BootFailure, ...]:
    """As kept in a row."""
    return () if document == "[]" else _FAILURES.validate_json(document)


def failures_json(failures: tuple[BootFailure, ...]) -> str:
    """As kept in a row."""
    return _FAILURES.dump_json(failures).decode()
