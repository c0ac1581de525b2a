"""What the reconciler and the services may ask of the engine."""

from collections.abc import Sequence
from typing import Protocol

from provisioner.models.identifiers import OperationId, RackName, RunKey
from provisioner.models.operation import Run


class Runs(Protocol):
    """Starting, stopping and finding runs of operations."""

    async def start(self, key: RunKey, rack: RackName | None) -> None:
        """Start a run, in one of the slots of `rack` if one is named. The same key again is a no-op."""
        ...

    async def cancel(self, run: OperationId) -> None:
        """Ask a run to stop; it does at its next step, or within about a second inside one."""
        ...

    async def signal(self, run: OperationId, topic: str) -> None:
        """Wake a run that waits for `topic`. A hint: whoever wakes reads the world."""
        ...

    async def active(self) -> Sequence[Run]:
        """Runs that are queued or running, on any worker."""
        ...

    async def find(self, runs: Sequence[OperationId]) -> Sequence[Run]:
        """These runs, as far as they exist."""
        ...
