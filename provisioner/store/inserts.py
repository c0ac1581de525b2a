"""Inserts that do not mind what is there already; both databases spell them alike."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert(connection: Connection, table: "Table[Any]") -> "postgresql.Insert | sqlite.Insert":
    """An insert with `on_conflict_do_nothing` and `on_conflict_do_update`."""
    if connection.dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)


def upsert(connection: Connection, *, table: "Table[Any]", values: Mapping[str, Any]) -> None:
    """Insert a row, or change the row with the same primary key to these values."""
    keys = [column.name for column in table.primary_key]
    changed = {name: value for name, value in values.items() if name not in keys}
    statement = insert(connection, table).values(values)
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=changed))


def insert_if_new(connection: Connection, *, table: "Table[Any]", values: Mapping[str, Any]) -> bool:
    """Insert a row unless one with the same key is there; True when it was inserted."""
    statement = insert(connection, table).values(values).on_conflict_do_nothing()
    return connection.execute(statement.returning(*table.primary_key)).first() is not None
