"""The nodes and their moves."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, bindparam, false, func, or_, select, update

from provisioner.errors import Conflict, NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.event import EventKind
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.instruction import Hold
from provisioner.models.inventory import Identity
from provisioner.models.lifecycle import State
from provisioner.models.node import ExpectedNode, Node, Place, Which
from provisioner.models.turn import Right
from provisioner.store import moves
from provisioner.store.audit import write_audit_if_given
from provisioner.store.columns import AnyRow
from provisioner.store.database import Database, always
from provisioner.store.events import event_row, last_reason, write_events
from provisioner.store.inserts import insert
from provisioner.store.locks import Lock, hold_lock
from provisioner.store.moves import Move
from provisioner.store.node_domains import keep_domains
from provisioner.store.node_pages import page_of
from provisioner.store.node_rows import NODE_COLUMNS, new_row, node
from provisioner.store.node_table import NODES
from provisioner.store.turns import has_right

_AT_REST = (State.READY, State.IN_PRODUCTION, State.MAINTENANCE, State.DECOMMISSIONED)
_BATCH = 500
"""Rows per insert: SQLite takes no more than 32,766 values in one statement."""

_BY_NAME = select(*NODE_COLUMNS).where(NODES.c.name == bindparam("name"))
"""Made once: every look at a BMC begins with it."""

Plan = Callable[[Node, str], Move | None]
"""What to change in a node, given the node and the states that it has visited; None for nothing."""


class SqlNodes:
    """`Nodes` in SQL."""

    def __init__(self, database: Database) -> None:
        """Reads and writes `database`."""
        self._database = database

    async def get(self, name: NodeName) -> Node:
        """Raises `NotFound`."""
        row = await self._database.read_row(lambda connection: connection.execute(_BY_NAME, {"name": name}).first())
        if row is None:
            raise NotFound(f"no node is called {name}")
        return node(row)

    async def all(self) -> Sequence[Node]:
        """Every node, by rack and position."""
        query = select(*NODE_COLUMNS).order_by(NODES.c.rack, NODES.c.position, NODES.c.name)
        return await self._database.read(lambda connection: [node(row) for row in connection.execute(query)])

    async def page(self, which: Which, after: Place | None, limit: int) -> Sequence[Node]:
        """As the protocol says."""
        return await self._database.read(partial(page_of, which=which, after=after, limit=limit))

    async def active(self) -> Sequence[Node]:
        """Those not at rest; held ones are among them."""
        query = select(*NODE_COLUMNS).where(NODES.c.state.not_in([state.value for state in _AT_REST]))
        return await self._database.read(lambda connection: [node(row) for row in connection.execute(query)])

    async def counts(self) -> Mapping[State, int]:
        """How many nodes are in each state; every state is there."""
        query = select(NODES.c.state, func.count()).group_by(NODES.c.state)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return dict.fromkeys(State, 0) | {State(state): count for state, count in rows}

    async def expect(self, nodes: Sequence[ExpectedNode], at: datetime) -> int:
        """Add the new ones, keep the known ones but for their domains; how many were added."""
        return await self._database.write(partial(_expect, nodes=nodes, at=at), bool)

    async def advance(
        self,
        seen: Node,
        to: State,
        reason: str,
        at: datetime,
        *,
        audit: AuditEntry | None = None,
        right: Right | None = None,
    ) -> bool:
        """Move on, out of a hold too; False when the node is not as it was seen. `to` is not `held`: see `hold`.

        The attempt grows when `to` was visited in this generation already, and never falls, so that no operation id
        comes twice.
        """
        if to is State.HELD:
            raise ValueError("a node is held by hold(), which says why")
        plan: Plan = partial(moves.advance, to=to, at=at)
        return await self._move(seen, plan, event_row(at, seen.name, EventKind.TRANSITION, reason), audit, right)

    async def hold(self, seen: Node, hold: Hold, *, audit: AuditEntry | None = None) -> bool:
        """Hold it, or change the reason of the hold; False when the node is not as it was seen."""
        kind = EventKind.OBSERVED if seen.state is State.HELD else EventKind.TRANSITION
        event = event_row(hold.since, seen.name, kind, hold.reason)
        return await self._move(seen, partial(moves.hold, why=hold), event, audit)

    async def let_go(
        self, seen: Node, reason: str, at: datetime, *, audit: AuditEntry | None = None, right: Right | None = None
    ) -> bool:
        """Back to the state that it was held from, with a new attempt; False when it is not held as it was seen."""
        plan: Plan = partial(moves.let_go, at=at)
        return await self._move(seen, plan, event_row(at, seen.name, EventKind.RELEASED, reason), audit, right)

    async def failed(self, seen: Node, reason: str, at: datetime, retry_at: datetime) -> bool:
        """A new attempt, not before `retry_at`; False when the node is not as it was seen."""
        return await self._move(
            seen,
            lambda node, _visited: moves.failed(node, retry_at),
            event_row(at, seen.name, EventKind.RETRY, reason),
        )

    async def desire(
        self,
        name: NodeName,
        release: ReleaseDigest,
        reason: str,
        at: datetime,
        *,
        seen: Node | None = None,
        audit: AuditEntry | None = None,
        right: Right | None = None,
    ) -> int:
        """Want another release: the new generation.

        Raises `NotFound`, and `Conflict` for a node on its way out, or one that is not as it was `seen`, or where the
        `right` to it is gone.
        """
        change = partial(_desire, name=name, release=release, event=event_row(at, name, EventKind.TRANSITION, reason))
        return await self._database.write(partial(change, seen=seen, audit=audit, right=right), always)

    async def identify(self, name: NodeName, identity: Identity) -> Sequence[NodeName]:
        """Record who it is; the other nodes with the same serial or UUID, whatever the case. Raises `NotFound`."""
        return await self._database.write(partial(_identify, name=name, identity=identity), always)

    async def assign(self, name: NodeName, hardware_class: str, release: ReleaseDigest) -> None:
        """Record its hardware class and the release that it should run. Raises `NotFound`."""
        values = {"hardware_class": hardware_class, "release": release}
        await self._database.write(partial(_set, name=name, values=values), always)

    async def observe_image(self, name: NodeName, image: str, at: datetime) -> None:
        """Record the digest that its agent reported; an event when it is another than before. Raises `NotFound`."""
        await self._database.write(partial(_observe_image, name=name, image=image, at=at), bool)

    async def tell(self, name: NodeName, what: str, at: datetime) -> None:
        """Write what was seen into the node's history, unless that is its last entry already. Raises `NotFound`."""
        await self._database.write(partial(_tell, name=name, what=what, at=at), bool)

    async def _move(
        self,
        seen: Node,
        plan: Plan,
        event: Mapping[str, Any],
        audit: AuditEntry | None = None,
        right: Right | None = None,
    ) -> bool:
        """Compare and swap, with the event and the line of the audit log, in one transaction."""
        change = partial(_move, seen=seen, plan=plan, event=event, audit=audit, right=right)
        return await self._database.write(change, bool)


def _move(
    connection: Connection,
    *,
    seen: Node,
    plan: Plan,
    event: Mapping[str, Any],
    audit: AuditEntry | None,
    right: Right | None,
) -> bool:
    if right is not None and not has_right(connection, node=seen.name, right=right):
        return False
    row = _lock(connection, seen.name)
    now = node(row)
    if _fence(now) != _fence(seen):
        return False
    move = plan(now, row.visited)
    if move is None:
        return False
    _apply(connection, now, move, event, audit=audit)
    return True


def _fence(node: Node) -> tuple[State, int, int, Hold | None]:
    return node.state, node.generation, node.attempt, node.hold


def _apply(
    connection: Connection, now: Node, move: Move, event: Mapping[str, Any], *, audit: AuditEntry | None
) -> None:
    """Row and event. An event names the states only where they tell of a move."""
    _set(connection, name=now.name, values=move.values)
    states = {} if move.to is now.state else {"from_state": now.state.value, "to_state": move.to.value}
    write_audit_if_given(connection, audit)
    write_events(connection, [{**event, **states}])


def _desire(
    connection: Connection,
    *,
    name: NodeName,
    release: ReleaseDigest,
    event: Mapping[str, Any],
    seen: Node | None,
    audit: AuditEntry | None,
    right: Right | None,
) -> int:
    if right is not None and not has_right(connection, node=name, right=right):
        raise Conflict(f"{name} is no longer in hand of {right.rollout}")
    now = node(_lock(connection, name))
    if seen is not None and _fence(now) != _fence(seen):
        raise Conflict(f"{name} has moved on meanwhile: look again")
    move = moves.desire(now, release, event["at"])
    if move is None:
        raise Conflict(f"{name} is {now.state.value}: it can be given no release")
    _apply(connection, now, move, event, audit=audit)
    return now.generation + 1


def _expect(connection: Connection, *, nodes: Sequence[ExpectedNode], at: datetime) -> int:
    """By name, so that of two that insert the same at once, one waits for the other and not each for each."""
    added: list[NodeName] = []
    rows = [new_row(one, at) for one in sorted(nodes, key=lambda one: one.name)]
    for start in range(0, len(rows), _BATCH):
        statement = insert(connection, NODES).values(rows[start : start + _BATCH])
        added += connection.scalars(statement.on_conflict_do_nothing().returning(NODES.c.name))
    keep_domains(connection, nodes=nodes)
    if added:
        events = [event_row(at, name, EventKind.DISCOVERED, "the expected list names it") for name in added]
        write_events(connection, [{**event, "to_state": State.DISCOVERED.value} for event in events])
    return len(added)


def _identify(connection: Connection, *, name: NodeName, identity: Identity) -> Sequence[NodeName]:
    """One at a time, so that of two nodes that say the same at once, the second one sees the first."""
    hold_lock(connection, Lock.IDENTITY)
    serial, uuid = _said(identity.serial), _said(identity.uuid)
    keys = {"serial_key": serial and serial.lower(), "uuid_key": uuid and uuid.lower()}
    said = {
        "serial": serial,
        "uuid": uuid,
        "manufacturer": _said(identity.manufacturer),
        "model": _said(identity.model),
    }
    _set(connection, name=name, values=said | keys)
    same = or_(false(), *(NODES.c[key] == value for key, value in keys.items() if value is not None))
    query = select(NODES.c.name).where(same, NODES.c.name != name).order_by(NODES.c.name)
    return [NodeName(other) for other in connection.scalars(query)]


def _said(text: str) -> str | None:
    return text.strip() or None


def _observe_image(connection: Connection, *, name: NodeName, image: str, at: datetime) -> bool:
    if _lock(connection, name).observed_image == image:
        return False
    _set(connection, name=name, values={"observed_image": image})
    write_events(connection, [event_row(at, name, EventKind.OBSERVED, f"the agent runs from image {image}")])
    return True


def _tell(connection: Connection, *, name: NodeName, what: str, at: datetime) -> bool:
    _lock(connection, name)
    if last_reason(connection, name) == what:
        return False
    write_events(connection, [event_row(at, name, EventKind.OBSERVED, what)])
    return True


def _lock(connection: Connection, name: NodeName) -> AnyRow:
    """The node's columns and `visited`; nobody else changes the row until this transaction ends."""
    query = select(*NODE_COLUMNS, NODES.c.visited).where(NODES.c.name == name).with_for_update(key_share=True)
    row = connection.execute(query).first()
    if row is None:
        raise NotFound(f"no node is called {name}")
    return row


def _set(connection: Connection, *, name: NodeName, values: Mapping[str, Any]) -> None:
    if connection.execute(update(NODES).where(NODES.c.name == name).values(**values)).rowcount == 0:
        raise NotFound(f"no node is called {name}")
