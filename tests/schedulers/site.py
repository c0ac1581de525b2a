"""What the tests of every scheduler need: somebody who starts jobs and cordons nodes, as people do."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from provisioner.capabilities.scheduler import Scheduler
from provisioner.models.identifiers import NodeName


class People(Protocol):
    """Who else works with the scheduler."""

    def start_job(self, node: NodeName) -> str:
        """One that runs until it is ended; its id, as views tell it."""
        ...

    def start_stubborn_job(self, node: NodeName) -> str:
        """One that a drain which spares people's work cannot move, until `ease` is called."""
        ...

    def ease(self, job: str) -> None:
        """Take away what keeps the job there."""
        ...

    def end_job(self, job: str) -> None:
        """By itself."""
        ...

    def cordon(self, node: NodeName, why: str) -> None:
        """A person takes the node out of service, whoever has done so before."""
        ...

    def lift(self, node: NodeName) -> None:
        """The person gives it back."""
        ...

    def give_label(self, node: NodeName, label: str) -> None:
        """One more."""
        ...


class Later:
    """A `Clock` that is ahead of the world's by `ahead`."""

    def __init__(self) -> None:
        self.ahead = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def wall(self, duration: timedelta) -> float:
        return duration.total_seconds()

    work = wall
    limit = wall


@dataclass
class Site:
    """One scheduler with two nodes in service.

    `again`: the adapter as another process makes it. `away`: the scheduler does not answer meanwhile. `requeues`: there
    is a way to put a job back into the queue.
    """

    scheduler: Scheduler
    again: Callable[[], Scheduler]
    clock: Later
    nodes: tuple[NodeName, NodeName]
    people: People | None = None
    away: Callable[[], AbstractContextManager[None]] | None = None
    requeues: bool = True

    @property
    def node(self) -> NodeName:
        return self.nodes[0]
