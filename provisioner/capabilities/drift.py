"""What the drift watch remembers."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from provisioner.models.drift import DriftFinding, FirmwareReading, StandingFinding
from provisioner.models.identifiers import NodeName


class Drift(Protocol):
    """Readings of firmware inventories, and findings."""

    async def claim(self, at: datetime, every: timedelta) -> bool:
        """True when nobody has begun a pass within `every` before `at`: it is the caller's turn."""
        ...

    async def tried(self) -> Sequence[tuple[NodeName, int, datetime]]:
        """Each node that was ever looked at, with its generation then, and when; answered or not."""
        ...

    async def try_(self, node: NodeName, generation: int, at: datetime) -> None:
        """Written before a BMC is asked, so that one which does not answer waits for its turn like the others."""
        ...

    async def read(self, reading: FirmwareReading) -> None:
        """What it answered."""
        ...

    async def readings(self) -> Sequence[FirmwareReading]:
        """The last answer of every node that gave one, by name."""
        ...

    async def findings(self) -> Sequence[StandingFinding]:
        """What stands, by key."""
        ...

    async def stand(self, findings: Collection[DriftFinding], at: datetime) -> tuple[int, int]:
        """From now on these stand and no others: how many are new, and how many are gone.

        Each that appears or goes is told in the history of its first odd node.
        """
        ...
