"""What a rollout needs of whatever gives work to the nodes of a pool."""

from collections.abc import Collection, Mapping
from typing import Protocol

from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.turn import Right
from provisioner.rollout.sight import Scheduled


class Jobs(Protocol):
    """The scheduler of one pool. Everything may be asked again; what does not work raises a `FirstlightError`."""

    async def look(self, nodes: Collection[NodeName]) -> Mapping[NodeName, Scheduled]:
        """Cordons and jobs of each. Of what it cannot tell it says that jobs run: missing is never drained."""
        ...

    async def cordon(self, node: NodeName, right: Right) -> None:
        """No new jobs, because of this rollout. Raises where somebody else's cordon stands there."""
        ...

    async def drain(self, node: NodeName, right: Right) -> str:
        """Let what runs come to its end, as the pool's policy says; what it waits for, and what a person can do."""
        ...

    async def expect_reboot(self, node: NodeName, right: Right) -> None:
        """From now on the scheduler does not take it back by itself, however it boots."""
        ...

    async def label(self, node: NodeName, release: ReleaseDigest) -> None:
        """Say which release it runs, so that no job is placed over two."""
        ...

    async def uncordon(self, node: NodeName, right: Right) -> None:
        """Take our cordon away, and nobody else's."""
        ...


class NoJobs:
    """`Jobs` of a pool without a scheduler: its nodes are out of service as soon as a rollout has taken them."""

    async def look(self, nodes: Collection[NodeName]) -> Mapping[NodeName, Scheduled]:
        """Nothing runs anywhere that anybody could tell of."""
        return dict.fromkeys(nodes, Scheduled())

    async def cordon(self, node: NodeName, right: Right) -> None:
        """The turn says so."""

    async def drain(self, node: NodeName, right: Right) -> str:  # noqa: ARG002  as the protocol says
        """Nothing runs."""
        return ""

    async def expect_reboot(self, node: NodeName, right: Right) -> None:
        """Nobody takes it back."""

    async def label(self, node: NodeName, release: ReleaseDigest) -> None:
        """The turn says so."""

    async def uncordon(self, node: NodeName, right: Right) -> None:
        """The turn says so."""
