"""The tables of promotions and soaks."""

from datetime import datetime

from sqlalchemy import BigInteger, Column, Double, ForeignKey, Index, Integer, Named, Table, Text, TypedColumns

from provisioner.store.channel_tables import release_column
from provisioner.store.columns import UtcDateTime, node_column
from provisioner.store.metadata import METADATA


class PromotionColumns(TypedColumns):
    """One row per promotion. `document` is all of it, as JSON; the others are what is asked for."""

    id: Named[str] = Column(Text, primary_key=True)
    channel: Named[str] = Column(Text)
    hardware_class: Named[str] = Column(Text)
    release: Named[str] = release_column()
    state: Named[str] = Column(Text)
    requested_at: Named[datetime] = Column(UtcDateTime)
    ended_at: Named[datetime | None] = Column(UtcDateTime)
    decision: Named[str | None] = Column(Text)
    revision: Named[int] = Column(Integer)
    document: Named[str] = Column(Text)


class PromotionLineColumns(TypedColumns):
    """One row per line of a promotion's history."""

    id: Named[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    promotion: Named[str] = Column(Text, ForeignKey("promotions.id"))
    at: Named[datetime] = Column(UtcDateTime)
    what: Named[str] = Column(Text)


class SoakColumns(TypedColumns):
    """One row per release: with at least one node on it."""

    release: Named[str] = Column(Text, ForeignKey("releases.digest"), primary_key=True)
    seconds: Named[float] = Column(Double)


class NodeSoakColumns(TypedColumns):
    """One row per release and node that was seen in service with it."""

    release: Named[str] = Column(Text, ForeignKey("releases.digest"), primary_key=True)
    node: Named[str] = node_column(primary_key=True)
    domain: Named[str] = Column(Text)
    seconds: Named[float] = Column(Double)


class SoakTurnColumns(TypedColumns):
    """One row: when somebody counted last."""

    id: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    at: Named[datetime] = Column(UtcDateTime)


PROMOTIONS = Table("promotions", METADATA, PromotionColumns, Index(None, "ended_at"), Index(None, "channel", "state"))
PROMOTION_LINES = Table("promotion_lines", METADATA, PromotionLineColumns, Index(None, "promotion", "id"))
SOAKS = Table("soaks", METADATA, SoakColumns)
NODE_SOAKS = Table("node_soaks", METADATA, NodeSoakColumns)
SOAK_TURN = Table("soak_turn", METADATA, SoakTurnColumns)
