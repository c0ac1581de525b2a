"""Promotions, soaks and releases, as we remember them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from profiles.release import Release
from provisioner.models.audit import AuditEntry
from provisioner.models.channel import Channel, Movement
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.promotion import Promotion, PromotionLine, PromotionState
from provisioner.promotion.soak import Sighting, Soak


@dataclass(frozen=True, slots=True)
class PromotionQuery:
    """Which promotions; None: all."""

    state: PromotionState | None = None
    channel: Channel | None = None
    hardware_class: str | None = None


class Promotions(Protocol):
    """Every promotion that there ever was, with its history."""

    async def request(self, asked: Promotion, *, audit: AuditEntry) -> Promotion:
        """The one that is open from now on: `asked`, with `audit`, or the one that was there for the same release.

        One for another release of the same channel and hardware class ends as superseded in the same transaction.
        """
        ...

    async def get(self, promotion: str) -> Promotion:
        """Raises `NotFound`."""
        ...

    async def page(self, query: PromotionQuery, after: str | None, limit: int) -> Sequence[Promotion]:
        """Newest first, behind the one with the id `after`. Raises `NotFound` when there is none."""
        ...

    async def unended(self) -> Sequence[str]:
        """The ids of those that go on, oldest first."""
        ...

    async def undecided(self, limit: int = 100) -> Sequence[Promotion]:
        """Those that were applied or rejected and have no signed statement about it yet, oldest first."""
        ...

    async def history(self, promotion: str) -> Sequence[PromotionLine]:
        """What happened to it, oldest first."""
        ...

    async def keep(
        self,
        seen: Promotion,
        now: Promotion,
        line: PromotionLine | None,
        *,
        audit: AuditEntry | None = None,
    ) -> bool:
        """Replace it, if nobody has since it was `seen`; False when somebody has."""
        ...

    async def apply(self, seen: Promotion, now: Promotion, movement: Movement, *, audit: AuditEntry) -> bool:
        """Keep it as applied and move the pointer: both, with `audit` and the history, or neither.

        False: the promotion or the pointer has moved since they were seen.
        """
        ...


class Soaks(Protocol):
    """How long which nodes were seen in service with a release."""

    async def turn(self) -> datetime | None:
        """When somebody counted last."""
        ...

    async def grow(self, seen: datetime | None, at: datetime, sightings: Sequence[Sighting], grown: timedelta) -> bool:
        """Add to each of them, if nobody has counted since the turn was `seen`; False when somebody has."""
        ...

    async def of(self, releases: Sequence[ReleaseDigest]) -> Mapping[ReleaseDigest, Soak]:
        """What each of these has; every one is there."""
        ...


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """A release that is kept. `made_at`, `made_by`: None where the site's own configuration brought it."""

    digest: ReleaseDigest
    name: str
    hardware_class: str
    made_at: datetime | None
    made_by: str | None


class ReleaseRecords(Protocol):
    """The releases that are kept, by content."""

    async def add(self, release: Release, who: str, at: datetime, *, audit: AuditEntry) -> bool:
        """Keep one, with `audit`; False when its content is there already."""
        ...

    async def record(self, digest: ReleaseDigest) -> ReleaseRecord:
        """Raises `NotFound`."""
        ...

    async def page(
        self, hardware_class: str | None, after: ReleaseDigest | None, limit: int
    ) -> Sequence[ReleaseRecord]:
        """Newest first, behind the one with the digest `after`. Raises `NotFound` when there is none."""
        ...
