"""Rollouts as we remember them, and the turns of nodes in them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from provisioner.models.audit import AuditEntry
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.turn import Booted, Rejected, Right, Turn
from provisioner.rollout.intent import Intent
from provisioner.rollout.kept import Glance, Kept, Line
from provisioner.rollout.state import Rollout, RolloutState


class Rollouts(Protocol):
    """The rollouts and their histories."""

    async def add(self, kept: Kept, *, audit: AuditEntry | None = None) -> bool:
        """Keep a new one; False when the name is taken. Raises `Conflict` when its pool has one that has not ended."""
        ...

    async def get(self, name: str) -> Kept:
        """Raises `NotFound`."""
        ...

    async def revision(self, name: str) -> int:
        """To see cheaply whether it has changed. Raises `NotFound`."""
        ...

    async def page(self, state: RolloutState | None, after: str | None, limit: int) -> Sequence[Glance]:
        """At most `limit` of them, newest first, behind the one that is called `after`.

        Raises `NotFound` when none is called so.
        """
        ...

    async def unended(self) -> Sequence[Glance]:
        """Those that are not closed, oldest first."""
        ...

    async def history(self, name: str) -> Sequence[Line]:
        """Oldest first."""
        ...

    async def claim(self, name: str, holder: str, at: datetime, until: datetime) -> int | None:
        """The lease of one that is not closed: its epoch, one more for each new holder. None: somebody else has it."""
        ...

    async def keep(
        self, seen: Kept, now: Rollout, at: datetime, *, told: Sequence[str], audit: AuditEntry | None = None
    ) -> Kept | None:
        """Replace it in one piece, with what it rejected; None when somebody has changed it, or has a higher epoch."""
        ...

    async def rejected(self) -> Sequence[Rejected]:
        """Every release that came back, newest first."""
        ...

    async def pardon(self, release: ReleaseDigest, hardware_class: str, *, audit: AuditEntry) -> bool:
        """A person says that it may be offered again; False when it was not rejected."""
        ...

    async def stops(self, release: ReleaseDigest) -> Sequence[str]:
        """Why the release must not be promoted: it came back, or a rollout of it is stopped at a gate."""
        ...


class Turns(Protocol):
    """Slots and leases of nodes. Each change is refused to who has not the right to it."""

    async def of(self, nodes: Collection[NodeName]) -> Mapping[NodeName, Turn]:
        """Those that rollouts ever had."""
        ...

    async def held(self) -> Mapping[NodeName, str]:
        """Every node that a rollout has now, and which."""
        ...

    async def reserve(self, node: NodeName, intent: Intent, came_from: State, blue: ReleaseDigest | None) -> bool:
        """Take it, where nobody else has it. `blue`: what it runs now."""
        ...

    async def done(self, node: NodeName, intent: Intent, **changes: object) -> bool:
        """Note what is done to it, with new values of `Turn`'s fields; False without the right to it."""
        ...

    async def give_back(self, node: NodeName, intent: Intent) -> bool:
        """Its turn is over. Also for a node that is gone."""
        ...

    async def has(self, node: NodeName, right: Right) -> bool:
        """Whether the right still stands."""
        ...

    async def booted(self, nodes: Collection[NodeName]) -> Mapping[NodeName, Booted]:
        """The last reported boot of each."""
        ...

    async def heard(self, nodes: Collection[NodeName], since: datetime) -> frozenset[NodeName]:
        """Those whose agents have given a sign of life since then."""
        ...
