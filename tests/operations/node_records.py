"""The table of nodes and their history in memory. The moves are those of the store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from provisioner.errors import Conflict, NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.event import Event, EventKind
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.instruction import Hold
from provisioner.models.inventory import Identity
from provisioner.models.lifecycle import State
from provisioner.models.node import ExpectedNode, Node, Place, Which
from provisioner.models.turn import Right
from provisioner.store import moves
from provisioner.store.moves import Move

_AT_REST = {State.READY, State.IN_PRODUCTION, State.MAINTENANCE, State.DECOMMISSIONED}

Plan = Callable[[Node, str], Move | None]


class MemoryEvents:
    """`Events`."""

    def __init__(self) -> None:
        """Nothing has happened."""
        self.all: list[Event] = []

    def add(self, at: datetime, node: NodeName, kind: EventKind, reason: str, *states: State | None) -> None:
        """One more; `states`: from and to."""
        self.all.append(Event(len(self.all) + 1, at, node, kind, reason, *states))

    async def of(self, node: NodeName, limit: int = 200) -> Sequence[Event]:
        """The last ones of a node."""
        return [event for event in self.all if event.node == node][-limit:]

    async def after(self, last_id: int, limit: int = 500) -> Sequence[Event]:
        """Those that came later."""
        return self.all[last_id : last_id + limit]


@dataclass(slots=True)
class MemoryNodes:
    """`Nodes`. `said` is what identify compares: (serial, uuid), in lower case."""

    events: MemoryEvents
    rows: dict[NodeName, tuple[Node, str]] = field(default_factory=dict)
    audit: list[AuditEntry] = field(default_factory=list)

    async def get(self, name: NodeName) -> Node:
        """Raises `NotFound`."""
        if name not in self.rows:
            raise NotFound(f"no node is called {name}")
        return self.rows[name][0]

    async def all(self) -> Sequence[Node]:
        """By rack and position."""
        return sorted((node for node, _ in self.rows.values()), key=lambda node: (node.rack, node.position))

    async def page(self, which: Which, after: Place | None, limit: int) -> Sequence[Node]:
        """As of the protocol."""
        fitting = [node for node in await self.all() if which.fits(node)]
        return [node for node in fitting if after is None or (node.rack, node.position, node.name) > after][:limit]

    async def active(self) -> Sequence[Node]:
        """Those that may need something."""
        return [node for node in await self.all() if node.state not in _AT_REST]

    async def counts(self) -> Mapping[State, int]:
        """By state."""
        states = [node.state for node, _ in self.rows.values()]
        return {state: states.count(state) for state in State}

    async def expect(self, nodes: Sequence[ExpectedNode], at: datetime) -> int:
        """Add the new ones."""
        new = [one for one in nodes if one.name not in self.rows]
        for one in new:
            node = Node(one.name, one.rack, one.position, one.bmc, State.DISCOVERED, at, expected_serial=one.serial)
            self.rows[one.name] = (node, State.DISCOVERED.value)
            self.events.add(at, one.name, EventKind.DISCOVERED, "expected", None, State.DISCOVERED)
        for one in nodes:
            node, visited = self.rows[one.name]
            self.rows[one.name] = (replace(node, domains=one.domains), visited)
        return len(new)

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
        """Move on. No rollout is about here: nobody comes with a `right`."""
        assert right is None
        told = (at, EventKind.TRANSITION, reason)
        return self._audited(self._move(seen, lambda now, visited: moves.advance(now, visited, to, at), told), audit)

    async def hold(self, seen: Node, hold: Hold, *, audit: AuditEntry | None = None) -> bool:
        """Hold it."""
        kind = EventKind.OBSERVED if seen.state is State.HELD else EventKind.TRANSITION
        told = (hold.since, kind, hold.reason)
        return self._audited(self._move(seen, lambda now, visited: moves.hold(now, visited, hold), told, hold), audit)

    async def let_go(
        self, seen: Node, reason: str, at: datetime, *, audit: AuditEntry | None = None, right: Right | None = None
    ) -> bool:
        """End the hold."""
        assert right is None
        told = (at, EventKind.RELEASED, reason)
        return self._audited(self._move(seen, lambda now, visited: moves.let_go(now, visited, at), told), audit)

    async def failed(self, seen: Node, reason: str, at: datetime, retry_at: datetime) -> bool:
        """A new attempt."""
        return self._move(seen, lambda now, _: moves.failed(now, retry_at), (at, EventKind.RETRY, reason))

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
        """A new generation."""
        assert right is None
        now = await self.get(name)
        if seen is not None and _fence(now) != _fence(seen):
            raise Conflict(f"{name} has moved on")
        move = moves.desire(now, release, at)
        if move is None:
            raise Conflict(f"{name} is {now.state}")
        self._apply(now, move, (at, EventKind.TRANSITION, reason), now.hold)
        self._audited(True, audit)
        return now.generation + 1

    async def identify(self, name: NodeName, identity: Identity) -> Sequence[NodeName]:
        """Who else says the same."""
        serial, uuid = identity.serial.strip() or None, identity.uuid.strip() or None
        await self._set(name, serial=serial, uuid=uuid, manufacturer=identity.manufacturer, model=identity.model)
        return [other for other, (node, _) in self.rows.items() if other != name and _same(node, serial, uuid)]

    async def assign(self, name: NodeName, hardware_class: str, release: ReleaseDigest) -> None:
        """Class and release."""
        await self._set(name, hardware_class=hardware_class, release=release)

    async def observe_image(self, name: NodeName, image: str, at: datetime) -> None:
        """What its agent runs from."""
        if (await self.get(name)).observed_image != image:
            await self._set(name, observed_image=image)
            self.events.add(at, name, EventKind.OBSERVED, f"the agent runs from image {image}", None, None)

    async def tell(self, name: NodeName, what: str, at: datetime) -> None:
        """Unless it is the last entry already."""
        last = (await self.events.of(name, 1))[-1:]
        if [one.reason for one in last] != [what]:
            self.events.add(at, name, EventKind.OBSERVED, what, None, None)

    def _audited(self, done: bool, audit: AuditEntry | None) -> bool:
        if done and audit is not None:
            self.audit.append(audit)
        return done

    async def _set(self, name: NodeName, **values: Any) -> None:
        node = await self.get(name)
        self.rows[name] = (replace(node, **values), self.rows[name][1])

    def _move(self, seen: Node, plan: Plan, event: tuple[datetime, EventKind, str], hold: Hold | None = None) -> bool:
        now, visited = self.rows[seen.name]
        if _fence(now) != _fence(seen):
            return False
        move = plan(now, visited)
        if move is None:
            return False
        self._apply(now, move, event, hold)
        return True

    def _apply(self, now: Node, move: Move, event: tuple[datetime, EventKind, str], hold: Hold | None) -> None:
        values = dict(move.values)
        visited = values.pop("visited", self.rows[now.name][1])
        for key in ("state", "held_from"):
            if values.get(key) is not None:
                values[key] = State(values[key])
        if values.get("hold") is not None:
            values["hold"] = hold
        self.rows[now.name] = (replace(now, **values), visited)
        moved = (now.state, move.to) if move.to is not now.state else (None, None)
        self.events.add(event[0], now.name, event[1], event[2], *moved)


def _fence(node: Node) -> tuple[State, int, int, Hold | None]:
    return node.state, node.generation, node.attempt, node.hold


def _same(node: Node, serial: str | None, uuid: str | None) -> bool:
    pairs = ((node.serial, serial), (node.uuid, uuid))
    return any(one is not None and other is not None and one.lower() == other.lower() for one, other in pairs)
