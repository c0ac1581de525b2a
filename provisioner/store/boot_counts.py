"""How often a ticket was served, counted before the answer goes out.

When a whole hall comes up, many counts are one commit.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import Connection, bindparam, update

from provisioner.errors import NotFound
from provisioner.models.boot import BootTicket
from provisioner.store.boot_tickets import BOOT_TICKETS
from provisioner.store.database import Database

_C = BOOT_TICKETS.c
_ADD = (
    update(BOOT_TICKETS)
    .where(
        _C.node == bindparam("of_node"), _C.generation == bindparam("of_generation"), _C.attempt == bindparam("of_run")
    )
    .values(
        served=_C.served + bindparam("more_served"),
        programs=_C.programs + bindparam("more_programs"),
        asked=_C.asked + bindparam("more_asked"),
    )
)


@dataclass(frozen=True, slots=True)
class Count:
    """What one answer adds."""

    ticket: BootTicket
    served: int = 0
    programs: int = 0
    asked: int = 0


@dataclass(slots=True)
class BootCounts:
    """Whoever comes while a commit is on its way is in the next one, together with all the others."""

    database: Database
    _waiting: "list[tuple[Count, asyncio.Future[None]]]" = field(default_factory=list)
    _writing: "asyncio.Task[None] | None" = None

    async def add(self, count: Count) -> None:
        """Returns when it is on the disk. Raises `NotFound`."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((count, done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write())
        await done

    async def _write(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                known = await self.database.write(partial(_add, counts=[count for count, _ in batch]))
            except Exception as error:  # noqa: BLE001 - it belongs to those who wait
                _tell(batch, [error] * len(batch))
            else:
                _tell(batch, [None if one else NotFound("there is no such boot ticket") for one in known])


def _tell(batch: "list[tuple[Count, asyncio.Future[None]]]", errors: Sequence[Exception | None]) -> None:
    for (_, done), error in zip(batch, errors, strict=True):
        if done.done():
            continue  # whoever asked has gone
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)


def _add(connection: Connection, *, counts: Sequence[Count]) -> list[bool]:
    return [_add_one(connection, one) for one in counts]


def _add_one(connection: Connection, count: Count) -> bool:
    ticket = count.ticket
    values = {
        "of_node": ticket.node,
        "of_generation": ticket.generation,
        "of_run": ticket.attempt,
        "more_served": count.served,
        "more_programs": count.programs,
        "more_asked": count.asked,
    }
    return connection.execute(_ADD, values).rowcount > 0
