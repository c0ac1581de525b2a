"""Campaigns and drift as the API shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from provisioner.models.campaign import Campaign, CampaignLine, Member
from provisioner.models.drift import StandingFinding


class CampaignView(BaseModel):
    """One campaign in one line. `counts`: members by their state; `why`: why it is not running."""

    name: str
    release: str
    digest: str
    hardware_class: str
    state: str
    why: str
    who: str
    started_at: datetime
    ended_at: datetime | None
    per_rack: int
    per_site: int
    canaries: int
    ready_within_seconds: float
    counts: dict[str, int]

    @classmethod
    def of(cls, one: Campaign) -> Self:
        """The view."""
        return cls(
            name=one.name,
            release=one.release,
            digest=one.digest,
            hardware_class=one.hardware_class,
            state=one.state,
            why=one.why,
            who=one.who,
            started_at=one.started_at,
            ended_at=one.ended_at,
            per_rack=one.limits.per_rack,
            per_site=one.limits.per_site,
            canaries=one.limits.canaries,
            ready_within_seconds=one.ready_within.total_seconds(),
            counts={state.value: count for state, count in one.counts().items()},
        )


class CampaignPage(BaseModel):
    """Newest first. `next` is the cursor of the page after this one; null on the last."""

    campaigns: list[CampaignView]
    next: str | None


class MemberView(BaseModel):
    """One node of a campaign. `since`: when its turn came."""

    node: str
    rack: str
    state: str
    since: datetime | None
    why: str

    @classmethod
    def of(cls, one: Member) -> Self:
        """The view."""
        return cls(node=one.node, rack=one.rack, state=one.state, since=one.since, why=one.why)


class LineView(BaseModel):
    """One line of a campaign's history."""

    at: datetime
    what: str


class CampaignDetail(CampaignView):
    """Everything about one campaign: its nodes in the order of their turns, and its history, oldest first."""

    members: list[MemberView] = []
    history: list[LineView] = []

    @classmethod
    def assemble(cls, one: Campaign, history: Sequence[CampaignLine]) -> Self:
        """The view."""
        return cls.of(one).model_copy(
            update={
                "members": [MemberView.of(member) for member in one.members],
                "history": [LineView(at=line.at, what=line.what) for line in history],
            }
        )


class FindingView(BaseModel):
    """One finding. `where`: a node or a job domain; `versions`: what is reported, and by which nodes."""

    kind: str
    where: str
    component: str
    wanted: str | None
    versions: dict[str, list[str]]
    odd: list[str]
    told: str
    since: datetime

    @classmethod
    def of(cls, one: StandingFinding) -> Self:
        """The view."""
        found = one.finding
        return cls(
            kind=found.kind,
            where=found.where,
            component=found.component,
            wanted=found.wanted,
            versions={version: list(nodes) for version, nodes in found.versions.items()},
            odd=list(found.odd),
            told=found.told,
            since=one.since,
        )


class DriftView(BaseModel):
    """All findings that stand. `nodes_read`: those that gave an answer since they were installed last."""

    findings: list[FindingView]
    nodes_read: int
    oldest_reading_at: datetime | None
