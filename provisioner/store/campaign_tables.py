"""The tables of campaigns."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, Named, Table, Text, TypedColumns

from provisioner.store.columns import UtcDateTime, node_column
from provisioner.store.metadata import METADATA


class CampaignColumns(TypedColumns):
    """One row per campaign. `holder`: the worker that has its lease."""

    name: Named[str] = Column(Text, primary_key=True)
    release: Named[str] = Column(Text)
    digest: Named[str] = Column(Text)
    hardware_class: Named[str] = Column(Text)
    per_rack: Named[int] = Column(Integer)
    per_site: Named[int] = Column(Integer)
    canaries: Named[int] = Column(Integer)
    ready_within_seconds: Named[float] = Column(Double)
    who: Named[str] = Column(Text)
    started_at: Named[datetime] = Column(UtcDateTime)
    state: Named[str] = Column(Text)
    why: Named[str] = Column(Text)
    ended_at: Named[datetime | None] = Column(UtcDateTime)
    revision: Named[int] = Column(Integer)
    holder: Named[str | None] = Column(Text)
    leased_until: Named[datetime | None] = Column(UtcDateTime)


def _campaign_column() -> Column[str]:
    return Column(Text, ForeignKey("campaigns.name"), primary_key=True)


class MemberColumns(TypedColumns):
    """One row per node of a campaign; `place`: its place in the order, from 0."""

    campaign: Named[str] = _campaign_column()
    place: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    node: Named[str] = node_column()
    rack: Named[str] = Column(Text)
    state: Named[str] = Column(Text)
    generation: Named[int | None] = Column(Integer)
    since: Named[datetime | None] = Column(UtcDateTime)
    why: Named[str] = Column(Text)


class LineColumns(TypedColumns):
    """One row per line of a campaign's history."""

    id: Named[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    campaign: Named[str] = Column(Text, ForeignKey("campaigns.name"))
    at: Named[datetime] = Column(UtcDateTime)
    what: Named[str] = Column(Text)


CAMPAIGNS = Table("campaigns", METADATA, CampaignColumns, Index(None, "ended_at"))
CAMPAIGN_MEMBERS = Table("campaign_members", METADATA, MemberColumns, Index(None, "node"))
CAMPAIGN_LINES = Table("campaign_lines", METADATA, LineColumns, Index(None, "campaign", "id"))
