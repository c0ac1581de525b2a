"""Campaigns: a pool of nodes on its way to the firmware bundle of a release."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from provisioner.models.identifiers import NodeName, RackName, ReleaseDigest


class CampaignState(StrEnum):
    """Where a campaign is. What runs on nodes goes on in every one of them; only `running` starts anything."""

    RUNNING = "running"
    PAUSED = "paused"
    """A person said so."""
    STOPPED = "stopped"
    """By itself, because of something that nobody has explained."""
    ABORTED = "aborted"
    DONE = "done"


class MemberState(StrEnum):
    """Where a node is in its campaign."""

    WAITING = "waiting"
    MOVING = "moving"
    """Its turn has come: it is given the release, or is on its way to ready with it."""
    DONE = "done"
    FAILED = "failed"
    LEFT_ALONE = "left_alone"
    """The campaign has ended without it."""


@dataclass(frozen=True, slots=True)
class CampaignLimits:
    """How much at once. `canaries`: nodes that have to be ready again before any other is started."""

    per_rack: int = 2
    per_site: int = 16
    canaries: int = 1


@dataclass(frozen=True, slots=True)
class Member:
    """One node. `generation`: the one that it had when its turn came; None where it never did."""

    node: NodeName
    rack: RackName
    state: MemberState = MemberState.WAITING
    generation: int | None = None
    since: datetime | None = None
    """When its turn came, last."""
    why: str = ""
    """What was seen of it last, for people."""

    @property
    def proven(self) -> bool:
        """This campaign has brought it to ready."""
        return self.state is MemberState.DONE and self.generation is not None


@dataclass(frozen=True, slots=True)
class Campaign:
    """One campaign. `name` is its own for ever; `digest` is what `release` named when it was started."""

    name: str
    release: str
    digest: ReleaseDigest
    hardware_class: str
    limits: CampaignLimits
    ready_within: timedelta
    """Real time from a node's turn to ready; longer is unexplained."""
    who: str
    started_at: datetime
    members: tuple[Member, ...]
    """In the order in which their turns come."""
    state: CampaignState = CampaignState.RUNNING
    why: str = ""
    """Why it is not running."""
    ended_at: datetime | None = None
    """Nothing of it is left to watch."""
    revision: int = 0
    """Grows with each change that was kept."""

    def those(self, state: MemberState) -> Iterator[Member]:
        """The members in a state, in order."""
        return (one for one in self.members if one.state is state)

    def counts(self) -> dict[MemberState, int]:
        """How many members are in each state; every state is there."""
        return {state: sum(1 for _ in self.those(state)) for state in MemberState}


@dataclass(frozen=True, slots=True)
class CampaignLine:
    """One line of a campaign's history."""

    at: datetime
    what: str
