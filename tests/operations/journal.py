"""The journal of updates in memory, with the moves of the product."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from provisioner.errors import Conflict
from provisioner.firmware.phase import FINISHED, Change, Entry, Phase, Planned, moved
from provisioner.models.identifiers import NodeName, TaskUri

_UNSENT = {Phase.PLANNED, Phase.PREFLIGHT}


@dataclass(slots=True)
class MemoryJournal:
    """`UpdateJournal`."""

    entries: dict[int, Entry] = field(default_factory=dict)
    _made: int = 0

    async def plan(self, node: NodeName, planned: Sequence[Planned], at: datetime) -> Sequence[Entry]:
        """Replace what was only planned."""
        for entry in await self.open(node):
            if entry.phase in _UNSENT and entry.what not in planned:
                del self.entries[entry.number]
        kept = {entry.what.component for entry in await self.open(node)}
        for what in planned:
            if what.component not in kept:
                self._made += 1
                change = Change(Phase.PLANNED, at)
                attempt = 1 + sum(self._failed(one, node, what) for one in self.entries.values())
                self.entries[self._made] = Entry(
                    self._made, node, what, attempt, Phase.PLANNED, None, None, (), (change,)
                )
        return await self.open(node)

    async def open(self, node: NodeName) -> Sequence[Entry]:
        """Not finished."""
        return [one for one in self.entries.values() if one.node == node and one.phase not in FINISHED]

    async def history(self, node: NodeName, limit: int = 200) -> Sequence[Entry]:
        """All."""
        return [one for one in self.entries.values() if one.node == node][-limit:]

    async def move(self, entries: Sequence[Entry], change: Change) -> Sequence[Entry]:
        """All or none."""
        return self._replace(entries, [moved(entry, change) for entry in entries])

    async def send(
        self, entries: Sequence[Entry], change: Change, live_until: datetime, tasks_before: Sequence[str]
    ) -> Sequence[Entry]:
        """Before a package goes out."""
        after = [moved(entry, change) for entry in entries]
        listed = tuple(tasks_before)
        return self._replace(
            entries, [replace(one, live_until=live_until, tasks_before=listed, task=None) for one in after]
        )

    async def started(self, entries: Sequence[Entry], task: TaskUri) -> Sequence[Entry]:
        """Its task."""
        return self._replace(entries, [replace(entry, task=task) for entry in entries])

    def _replace(self, before: Sequence[Entry], after: list[Entry]) -> Sequence[Entry]:
        for entry in before:
            if self.entries[entry.number].changes != entry.changes:
                raise Conflict(f"{entry.name} has moved on")
        self.entries |= {entry.number: entry for entry in after}
        return after

    @staticmethod
    def _failed(one: Entry, node: NodeName, what: Planned) -> bool:
        same = (one.what.component, one.what.part, one.what.version) == (what.component, what.part, what.version)
        return one.node == node and same and one.phase is Phase.FAILED
