"""Slots and leases of nodes, in SQL."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, and_, func, select, update

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.turn import Booted, Right, Turn
from provisioner.rollout.intent import Intent
from provisioner.store.boot_tickets import BOOT_TICKETS
from provisioner.store.burn_ins import HEARTBEATS
from provisioner.store.columns import AnyRow
from provisioner.store.database import Database, always
from provisioner.store.inserts import insert_if_new
from provisioner.store.rollout_tables import TURNS

_C = TURNS.c
_T = BOOT_TICKETS.c
_MANY = 500
"""Names per statement."""


class SqlTurns:
    """`Turns` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def of(self, nodes: Collection[NodeName]) -> Mapping[NodeName, Turn]:
        """As the protocol says."""
        return await self._database.read(partial(_of, nodes=list(nodes)))

    async def held(self) -> Mapping[NodeName, str]:
        """As the protocol says."""
        query = select(_C.node, _C.holder).where(_C.holder.is_not(None))
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return {NodeName(row.node): row.holder for row in rows}

    async def reserve(self, node: NodeName, intent: Intent, came_from: State, blue: ReleaseDigest | None) -> bool:
        """As the protocol says."""
        change = partial(_reserve, node=node, intent=intent, came_from=came_from, blue=blue)
        return await self._database.write(change, always)

    async def done(self, node: NodeName, intent: Intent, **changes: object) -> bool:
        """As the protocol says."""
        values = {"effect": intent.effect, "epoch": intent.epoch, **changes}
        statement = update(TURNS).where(*_is_right(node, right_of(intent))).values(values)
        return await self._database.write(lambda connection: connection.execute(statement).rowcount > 0)

    async def give_back(self, node: NodeName, intent: Intent) -> bool:
        """As the protocol says."""
        return await self.done(node, intent, holder=None, cordoned=False, came_from=None)

    async def has(self, node: NodeName, right: Right) -> bool:
        """As the protocol says."""
        return await self._database.read_row(partial(has_right, node=node, right=right))

    async def booted(self, nodes: Collection[NodeName]) -> Mapping[NodeName, Booted]:
        """As the protocol says."""
        return await self._database.read(partial(_booted, nodes=list(nodes)))

    async def heard(self, nodes: Collection[NodeName], since: datetime) -> frozenset[NodeName]:
        """As the protocol says."""
        return await self._database.read(partial(_heard, nodes=list(nodes), since=since))


def right_of(intent: Intent) -> Right:
    """To do what the intent asks for."""
    return Right(intent.rollout, intent.epoch)


def has_right(connection: Connection, *, node: NodeName, right: Right) -> bool:
    """In a transaction that changes the node because of it."""
    return connection.scalar(select(_C.node).where(*_is_right(node, right)).with_for_update()) is not None


def _is_right(node: NodeName, right: Right) -> tuple[Any, ...]:
    return _C.node == node, _C.holder == right.rollout, _C.epoch <= right.epoch


def _reserve(
    connection: Connection, *, node: NodeName, intent: Intent, came_from: State, blue: ReleaseDigest | None
) -> bool:
    """Taken again, it stays as it is but for the epoch: where it came from is what it was at first."""
    insert_if_new(connection, table=TURNS, values=asdict(Turn(node)))
    again = {"epoch": intent.epoch, "effect": intent.effect}
    if connection.execute(update(TURNS).where(*_is_right(node, right_of(intent))).values(again)).rowcount:
        return True
    free = update(TURNS).where(_C.node == node, _C.holder.is_(None))
    taken = {
        **again,
        "holder": intent.rollout,
        "came_from": came_from.value,
        "active": blue,
        "blue": blue,
        "green": intent.release,
    }
    return connection.execute(free.values(taken)).rowcount > 0


def _of(connection: Connection, *, nodes: list[NodeName]) -> dict[NodeName, Turn]:
    found: dict[NodeName, Turn] = {}
    for some in _batches(nodes):
        for row in connection.execute(select(TURNS).where(_C.node.in_(some))):
            found[NodeName(row.node)] = _turn(row)
    return found


def _booted(connection: Connection, *, nodes: list[NodeName]) -> dict[NodeName, Booted]:
    """Of each node the registered ticket with the greatest generation and attempt."""
    found: dict[NodeName, Booted] = {}
    for some in _batches(nodes):
        registered = (_T.node.in_(some), _T.boot_id.is_not(None))
        last = select(_T.node, func.max(_T.generation).label("generation")).where(*registered).group_by(_T.node)
        newest = last.subquery()
        of_last = and_(_T.node == newest.c.node, _T.generation == newest.c.generation)
        query = select(_T.node, _T.generation, _T.booted_image, _T.registered_at).join(newest, of_last)
        for row in connection.execute(query.where(*registered).order_by(_T.attempt)):
            found[NodeName(row.node)] = Booted(
                NodeName(row.node), row.generation, row.booted_image or "", row.registered_at
            )
    return found


def _heard(connection: Connection, *, nodes: list[NodeName], since: datetime) -> frozenset[NodeName]:
    found: set[NodeName] = set()
    for some in _batches(nodes):
        query = select(HEARTBEATS.c.node).where(HEARTBEATS.c.node.in_(some), HEARTBEATS.c.at >= since)
        found |= {NodeName(name) for name in connection.scalars(query)}
    return frozenset(found)


def _batches(nodes: list[NodeName]) -> Iterator[list[NodeName]]:
    return (nodes[start : start + _MANY] for start in range(0, len(nodes), _MANY))


def _turn(row: AnyRow) -> Turn:
    return Turn(
        node=NodeName(row.node),
        holder=row.holder,
        epoch=row.epoch,
        effect=row.effect,
        came_from=None if row.came_from is None else State(row.came_from),
        cordoned=row.cordoned,
        label=row.label,
        active=row.active,
        blue=row.blue,
        green=row.green,
    )
