"""Campaigns, as we remember them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from provisioner.models.audit import AuditEntry
from provisioner.models.campaign import Campaign, CampaignLine, CampaignState
from provisioner.models.identifiers import NodeName


class Campaigns(Protocol):
    """The campaigns and their histories."""

    async def add(self, campaign: Campaign, *, audit: AuditEntry | None = None) -> bool:
        """Keep a new one, with `audit` in the same transaction; False when the name is taken.

        Raises `Conflict` when one of its nodes is in another campaign that has not ended.
        """
        ...

    async def get(self, name: str) -> Campaign:
        """Raises `NotFound`."""
        ...

    async def page(self, state: CampaignState | None, after: str | None, limit: int) -> Sequence[Campaign]:
        """At most `limit` campaigns with their members, newest first, behind the one that is called `after`.

        Raises `NotFound` when none is called so.
        """
        ...

    async def counts(self) -> Mapping[CampaignState, int]:
        """How many are in each state; every state is there."""
        ...

    async def unended(self) -> Sequence[str]:
        """The names of those that have something left to do or to watch, oldest first."""
        ...

    async def history(self, name: str) -> Sequence[CampaignLine]:
        """What happened to it, oldest first; what happened to its nodes is in theirs."""
        ...

    async def claim(self, name: str, holder: str, at: datetime, until: datetime) -> bool:
        """The lease of a campaign that has not ended, for `holder` until then; False while somebody else has it."""
        ...

    async def may_move(self, name: str, node: NodeName, generation: int) -> bool:
        """The campaign is running, and it is the node's turn with this generation."""
        ...

    async def keep(
        self,
        seen: Campaign,
        now: Campaign,
        at: datetime,
        *,
        told: Sequence[str],
        nodes: Mapping[NodeName, str],
        audit: AuditEntry | None = None,
    ) -> bool:
        """Replace it, if nobody has since it was `seen`, all in one transaction; False when somebody has.

        `told`: lines of its history; `nodes`: what goes into the histories of nodes.
        """
        ...
