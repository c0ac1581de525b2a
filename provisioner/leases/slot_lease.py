"""Which worker am I? A slot held by a PostgreSQL advisory lock for as long as the connection lives.

Whoever loses the connection stops at once: somebody else may already be doing its work.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import psycopg
import structlog

from provisioner.errors import LeaseLost

_log = structlog.get_logger(__name__)

_FAMILY = 0x46495253  # "FIRS": keeps our advisory locks apart from everybody else's in the database
_KEEPALIVE = "keepalives_idle=5&keepalives_interval=5&keepalives_count=3"
"""A lost host is noticed within 20 s (set the server's tcp_keepalives_* likewise)."""


@dataclass(slots=True)
class SlotLease:
    """`url`: PostgreSQL, a direct connection (no transaction pooler). `slots`: how many workers there may be."""

    url: str
    slots: int
    beat_seconds: float = 1.0
    number: int | None = None
    _connection: psycopg.AsyncConnection[tuple[bool]] | None = None

    @property
    def name(self) -> str:
        """`slot-<number>`. Raises `LeaseLost` before `acquire` and after the loss."""
        if self.number is None:
            raise LeaseLost("this worker holds no slot")
        return f"slot-{self.number}"

    async def acquire(self) -> str:
        """Wait for the first free slot; its name."""
        connection = await self._connect()
        while True:
            for number in range(self.slots):
                if await _try_lock(connection, number):
                    self.number = number
                    return self.name
            await asyncio.sleep(self.beat_seconds)

    async def guard(self, adopt: Callable[[str], Awaitable[int]]) -> None:
        """Watch the own slot and take up what dead workers left. Raises `LeaseLost` when the connection is gone.

        `adopt` is called with the name of a free slot while this worker holds its lock, so that nobody can begin to
        work under that name meanwhile.
        """
        connection = await self._connect()
        try:
            while True:
                await asyncio.sleep(self.beat_seconds)
                for number in range(self.slots):
                    if number != self.number and await _try_lock(connection, number):
                        await self._adopt(connection, number, adopt)
        except psycopg.Error as error:
            self.number = None
            raise LeaseLost(f"the connection that holds the slot is gone: {error}") from error

    async def close(self) -> None:
        """Give the slot back."""
        self.number = None
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def _adopt(
        self, connection: psycopg.AsyncConnection[tuple[bool]], number: int, adopt: Callable[[str], Awaitable[int]]
    ) -> None:
        try:
            adopted = await adopt(f"slot-{number}")
            if adopted:
                _log.warning("runs_adopted", slot=f"slot-{number}", runs=adopted, by=self.name)
        finally:
            await connection.execute("select pg_advisory_unlock(%s, %s)", (_FAMILY, number))

    async def _connect(self) -> psycopg.AsyncConnection[tuple[bool]]:
        if self._connection is None:
            url = self.url.replace("postgresql+psycopg://", "postgresql://", 1)
            url = f"{url}{'&' if '?' in url else '?'}{_KEEPALIVE}"
            self._connection = await psycopg.AsyncConnection[tuple[bool]].connect(url, autocommit=True)
        return self._connection


async def _try_lock(connection: psycopg.AsyncConnection[tuple[bool]], number: int) -> bool:
    cursor = await connection.execute("select pg_try_advisory_lock(%s, %s)", (_FAMILY, number))
    row = await cursor.fetchone()
    return bool(row and row[0])
