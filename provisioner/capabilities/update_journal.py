"""The journal of firmware updates, kept so that no component is ever flashed twice."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from provisioner.firmware.phase import Change, Entry, Planned
from provisioner.models.identifiers import NodeName, TaskUri


class UpdateJournal(Protocol):
    """One entry per node, component class and try. At most one of a component (or part) is open at a time."""

    async def plan(self, node: NodeName, planned: Sequence[Planned], at: datetime) -> Sequence[Entry]:
        """Replace what was only planned by `planned`; the open entries then.

        What has been sent stays, and so nothing is planned beside it for the same component. Raises `NotFound`.
        """
        ...

    async def open(self, node: NodeName) -> Sequence[Entry]:
        """What is not finished, oldest first."""
        ...

    async def history(self, node: NodeName, limit: int = 200) -> Sequence[Entry]:
        """The last entries, finished ones too, oldest first."""
        ...

    async def move(self, entries: Sequence[Entry], change: Change) -> Sequence[Entry]:
        """Move all of them, or none. Raises `Conflict` when one is not as it was read, or the move is not allowed."""
        ...

    async def send(
        self, entries: Sequence[Entry], change: Change, live_until: datetime, tasks_before: Sequence[str]
    ) -> Sequence[Entry]:
        """As `move`, to `uploaded`, before a package is sent: when it must be over, and which tasks are not its own."""
        ...

    async def started(self, entries: Sequence[Entry], task: TaskUri) -> Sequence[Entry]:
        """The task of an update, as soon as it is known."""
        ...
