"""Transactions in a few threads, so that no event loop waits for a disk."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine
from sqlalchemy.exc import IntegrityError

from provisioner.errors import Conflict, NotFound
from provisioner.store import sqlite

T = TypeVar("T")

_POSTGRES_CONNECTIONS = 8


def never(_result: object) -> bool:
    """For writes that nobody waits for."""
    return False


def always(_result: object) -> bool:
    """For writes that always change a node or its history."""
    return True


def no_one() -> None:
    """Hears of no change."""


class Database:
    """One transaction per call. On SQLite all writes queue for one thread, so that they never wait for each other."""

    _rows: Connection | None

    def __init__(self, url: URL, on_change: Callable[[], None] = no_one) -> None:
        """`on_change` is called after a commit that changed nodes or events, in the event loop that asked for it."""
        self._on_change = on_change
        self.writer, self.reader = _engines(url)
        self._url, self._rows = url, None
        if self.writer is self.reader:
            self._write_threads = self._read_threads = ThreadPoolExecutor(_POSTGRES_CONNECTIONS, "store")
        else:
            self._write_threads = ThreadPoolExecutor(1, "store-write")
            self._read_threads = ThreadPoolExecutor(sqlite.READERS, "store-read")

    async def read(self, query: Callable[[Connection], T]) -> T:
        """Run `query` in a transaction of its own."""
        return await asyncio.get_running_loop().run_in_executor(self._read_threads, self._read, query)

    async def read_row(self, query: Callable[[Connection], T]) -> T:
        """As `read`, for one row by its key: on SQLite quicker than the way to another thread and back (0.1 ms)."""
        if self.reader is self.writer:
            return await self.read(query)
        if self._rows is None:
            self._rows = sqlite.connect_for_rows(self._url).connect()
        return query(self._rows)

    async def write(self, change: Callable[[Connection], T], wakes: Callable[[T], bool] = never) -> T:
        """Run `change` in a transaction; calls `on_change` when `wakes(result)` says so.

        A caller that is cancelled does not stop the transaction, and the change is told all the same. Raises
        `NotFound` for a row that names a node which is not there, `Conflict` for other broken constraints.
        """
        written = asyncio.get_running_loop().run_in_executor(self._write_threads, self._write, change)
        written.add_done_callback(lambda done: self._tell(done, wakes))
        return await asyncio.shield(written)

    def close(self) -> None:
        """Finish what is queued and close every connection."""
        self._write_threads.shutdown()
        self._read_threads.shutdown()
        if self._rows is not None:
            self._rows.close()
            self._rows.engine.dispose()
        self.reader.dispose()
        self.writer.dispose()

    def _read(self, query: Callable[[Connection], T]) -> T:
        with self.reader.begin() as connection:
            return query(connection)

    def _write(self, change: Callable[[Connection], T]) -> T:
        try:
            with self.writer.begin() as connection:
                return change(connection)
        except IntegrityError as error:
            if "foreign key" in str(error.orig).lower():
                raise NotFound(f"the database knows no such node or run: {error.orig}") from error
            raise Conflict(f"the database holds something else already: {error.orig}") from error

    def _tell(self, written: "asyncio.Future[T]", wakes: Callable[[T], bool]) -> None:
        if not written.cancelled() and written.exception() is None and wakes(written.result()):
            self._on_change()


def _engines(url: URL) -> tuple[Engine, Engine]:
    if url.get_backend_name() == "sqlite":
        sqlite.prepare_file(url)
        return sqlite.connect_writer(url), sqlite.connect_readers(url)
    engine = create_engine(
        url, pool_size=_POSTGRES_CONNECTIONS, max_overflow=0, pool_pre_ping=True, hide_parameters=True
    )
    return engine, engine
