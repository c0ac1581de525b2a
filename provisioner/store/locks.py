"""Locks that PostgreSQL needs where SQLite's single writer needs none. They end with the transaction."""

from enum import IntEnum

from sqlalchemy import Connection, func, select

_NAMESPACE = 7421


class Lock(IntEnum):
    """One number per purpose; a transaction that takes several takes them in the order of these lines."""

    MIGRATION = 1
    ADMIN_TOKEN = 2
    IDENTITY = 3
    CAMPAIGN = 5
    DRIFT = 6
    PROMOTION = 8
    AUDIT = 7
    EVENTS = 4


def hold_lock(connection: Connection, lock: Lock) -> None:
    """Wait for `lock` and keep it until this transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_NAMESPACE, lock.value)))
