"""Connections to a SQLite file: write-ahead log, synchronous FULL, foreign keys, `BEGIN IMMEDIATE` for writes."""

import os
import sqlite3
import time
from pathlib import Path

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

from provisioner.errors import BadInput

READERS = 4
_BUSY_SECONDS = 30.0


def prepare_file(url: URL) -> None:
    """Make the file (mode 0600) and turn the write-ahead log on, which the file remembers. Raises `BadInput`."""
    if url.database in (None, "", ":memory:"):
        raise BadInput("database URL: SQLite needs a file, as in sqlite:////var/lib/firstlight/site.db")
    path = Path(str(url.database))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        _use_write_ahead_log(path)
    except (OSError, sqlite3.Error) as error:
        raise BadInput(f"{path}: cannot open the database: {error}") from error


def connect_writer(url: URL) -> Engine:
    """One connection, whose transactions take the write lock as they begin."""
    engine = create_engine(url, pool_size=1, max_overflow=0, hide_parameters=True)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin_immediate)
    return engine


def connect_readers(url: URL) -> Engine:
    """A few connections that cannot write and that no writer keeps waiting."""
    engine = create_engine(url, pool_size=READERS, max_overflow=0, hide_parameters=True)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "connect", _refuse_writes)
    event.listen(engine, "begin", _begin)
    return engine


def connect_for_rows(url: URL) -> Engine:
    """One connection whose statements are no transaction: each sees what was committed last."""
    engine = create_engine(url, pool_size=1, max_overflow=0, hide_parameters=True)
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "connect", _refuse_writes)
    return engine


def _use_write_ahead_log(path: Path) -> None:
    """Changing the mode does not wait for other processes that do the same, so it is tried again."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        finally:
            connection.close()


def _set_up(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions begin when we say so, not when the driver guesses
    cursor = connection.cursor()
    for pragma in (f"busy_timeout={int(_BUSY_SECONDS * 1000)}", "foreign_keys=ON", "synchronous=FULL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _refuse_writes(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    cursor = connection.cursor()
    cursor.execute("PRAGMA query_only=ON")
    cursor.close()


def _begin_immediate(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")
