"""Boot tickets and who asks for them, in memory."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from provisioner.errors import Conflict
from provisioner.models.boot import Asker, BootFailure, BootTicket
from provisioner.models.identifiers import NodeName
from provisioner.models.node import Node
from provisioner.models.secret import Secret
from tests.operations.node_records import MemoryNodes


@dataclass(frozen=True, slots=True)
class MemoryBootAskers:
    """`BootAskers`."""

    nodes: MemoryNodes
    boots: "MemoryBoots"

    async def by_key(self, key: Secret) -> Asker | None:
        """Whose boot has this key."""
        ticket = next((one for one in self.boots.tickets.values() if one.key == key), None)
        return await self._asker(await self.nodes.get(ticket.node)) if ticket else None

    async def by_identity(self, serial: str, uuid: str) -> Asker | None:
        """Both are the node's."""
        nodes = [node for node in await self.nodes.all() if node.serial and node.uuid]
        said = serial.lower(), uuid.lower()
        found = next((one for one in nodes if (str(one.serial).lower(), str(one.uuid).lower()) == said), None)
        return await self._asker(found) if found else None

    async def by_port(self, mac: str) -> Asker | None:  # noqa: ARG002  as the protocol
        """Nobody asks so here."""
        return None

    async def _asker(self, node: Node) -> Asker:
        return Asker(node, await self.boots.latest(node.name))


@dataclass(slots=True)
class MemoryBoots:
    """`Boots`."""

    nodes: MemoryNodes
    tickets: dict[tuple[NodeName, int, int], BootTicket] = field(default_factory=dict)

    @property
    def askers(self) -> MemoryBootAskers:
        """Who asks for them."""
        return MemoryBootAskers(self.nodes, self)

    async def open(self, ticket: BootTicket) -> BootTicket:
        """The one that is there, or this one."""
        return self.tickets.setdefault((ticket.node, ticket.generation, ticket.attempt), ticket)

    async def latest(self, node: NodeName) -> BootTicket | None:
        """By generation and attempt."""
        keys = [key for key in self.tickets if key[0] == node]
        return self.tickets[max(keys)] if keys else None

    async def by_token(self, token: Secret) -> BootTicket | None:
        """With this token."""
        return next((one for one in self.tickets.values() if one.token == token), None)

    async def served(self, ticket: BootTicket, *, program: bool = False) -> None:
        """One more answer."""
        kept = self._kept(ticket)
        self._put(ticket, served=kept.served + 1, programs=kept.programs + program)

    async def asked(self, ticket: BootTicket) -> None:
        """One more initrd."""
        self._put(ticket, asked=self._kept(ticket).asked + 1)

    async def allow(self, ticket: BootTicket, most_served: int) -> BootTicket:
        """Never less."""
        return self._put(ticket, most_served=max(most_served, self._kept(ticket).most_served))

    async def refused(self, ticket: BootTicket, target: str) -> None:
        """Once."""
        self._put(ticket, refused=tuple(dict.fromkeys((*self._kept(ticket).refused, target))))

    async def failed(self, ticket: BootTicket, failure: BootFailure) -> None:
        """One for each boot."""
        kept = self._kept(ticket)
        if not any(one.served == kept.served for one in kept.failures):
            self._put(ticket, failures=(*kept.failures, replace(failure, served=kept.served)))

    async def registered(self, ticket: BootTicket, boot_id: str, image: str, root: str, at: datetime) -> BootTicket:
        """The agent reports."""
        kept = self._kept(ticket)
        if kept.boot_id is None:
            return self._put(ticket, boot_id=boot_id, booted_image=image, booted_root=root, registered_at=at)
        if kept.boot_id != boot_id:
            raise Conflict(f"{ticket.node}: boot {kept.boot_id} has used this token already")
        return kept

    def _kept(self, ticket: BootTicket) -> BootTicket:
        return self.tickets[ticket.node, ticket.generation, ticket.attempt]

    def _put(self, ticket: BootTicket, **changes: Any) -> BootTicket:
        changed = replace(self._kept(ticket), **changes)
        self.tickets[ticket.node, ticket.generation, ticket.attempt] = changed
        return changed
