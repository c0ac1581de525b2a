"""How often a ticket was served, counted before the answer goes out.

When a whole hall comes up, many counts are one commit.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlalchemy import Connection, bindparam, select, update

from provisioner.errors import NotFound
from provisioner.models.boot import BootTicket
from provisioner.models.identifiers import NodeName
from provisioner.store.boot_tickets import BOOT_TICKETS
from provisioner.store.database import Database

_GATHER_SECONDS = 0.002
"""What a crowd waits for each other: a commit takes many times longer, and nobody waits for one of the first alone."""

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

_Run = tuple[NodeName, int, int]
"""Whose counts: node, generation, attempt."""


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
    _is_crowded: bool = False
    """The last commit was of several counts: whoever got its answer may ask again at once."""

    async def add(self, count: Count) -> None:
        """Returns when it is on the disk. Raises `NotFound`."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((count, done))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.ensure_future(self._write())
        await done

    async def _write(self) -> None:
        while self._waiting:
            if self._is_crowded:
                await asyncio.sleep(_GATHER_SECONDS)
            batch, self._waiting = self._waiting, []
            self._is_crowded = len(batch) > 1
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
    """Which of them there are. By name, so that of two workers that count the same at once one waits for the other."""
    sums: dict[_Run, Count] = {}
    for count in counts:
        sums[_run(count)] = _sum(sums.get(_run(count)), count)
    changed = connection.execute(_ADD, [_values(run, sums[run]) for run in sorted(sums)]).rowcount
    known = sums.keys() if changed == len(sums) else {run for run in sums if _is_there(connection, run)}
    return [_run(count) in known for count in counts]


def _run(count: Count) -> _Run:
    return count.ticket.node, count.ticket.generation, count.ticket.attempt


def _sum(one: Count | None, other: Count) -> Count:
    if one is None:
        return other
    served, programs, asked = one.served + other.served, one.programs + other.programs, one.asked + other.asked
    return Count(other.ticket, served, programs, asked)


def _values(run: _Run, count: Count) -> dict[str, str | int]:
    node, generation, attempt = run
    return {
        "of_node": node,
        "of_generation": generation,
        "of_run": attempt,
        "more_served": count.served,
        "more_programs": count.programs,
        "more_asked": count.asked,
    }


def _is_there(connection: Connection, run: _Run) -> bool:
    node, generation, attempt = run
    query = select(_C.node).where(_C.node == node, _C.generation == generation, _C.attempt == attempt)
    return connection.execute(query).first() is not None
