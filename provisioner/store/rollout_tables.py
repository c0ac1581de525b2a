"""The tables of rollouts."""

from datetime import datetime

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Index, Integer, Named, Table, Text, TypedColumns

from provisioner.store.columns import UtcDateTime, node_column
from provisioner.store.metadata import METADATA


class RolloutColumns(TypedColumns):
    """One row per rollout. `plan` and `head` are JSON; the rest of them is what is asked for most."""

    name: Named[str] = Column(Text, primary_key=True)
    pool: Named[str] = Column(Text)
    release: Named[str] = Column(Text)
    state: Named[str] = Column(Text)
    why: Named[str] = Column(Text)
    who: Named[str] = Column(Text)
    created_at: Named[datetime] = Column(UtcDateTime)
    closed_at: Named[datetime | None] = Column(UtcDateTime)
    revision: Named[int] = Column(Integer)
    epoch: Named[int] = Column(Integer)
    holder: Named[str | None] = Column(Text)
    leased_until: Named[datetime | None] = Column(UtcDateTime)
    request: Named[str] = Column(Text)
    plan: Named[str] = Column(Text)
    head: Named[str] = Column(Text)


def _rollout_column(**options: bool) -> Column[str]:
    return Column(Text, ForeignKey("rollouts.name"), nullable=False, **options)  # type: ignore[arg-type]  # keywords


class UnitColumns(TypedColumns):
    """One row per unit that was taken; JSON of its task."""

    rollout: Named[str] = _rollout_column(primary_key=True)
    unit: Named[str] = Column(Text, primary_key=True)
    document: Named[str] = Column(Text)


class NodeColumns(TypedColumns):
    """One row per node that was seen; JSON of its facts."""

    rollout: Named[str] = _rollout_column(primary_key=True)
    node: Named[str] = Column(Text, primary_key=True)
    document: Named[str] = Column(Text)


class LineColumns(TypedColumns):
    """One row per line of a rollout's history."""

    id: Named[int] = Column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    rollout: Named[str] = _rollout_column()
    at: Named[datetime] = Column(UtcDateTime)
    what: Named[str] = Column(Text)


class RejectedColumns(TypedColumns):
    """One row per release that came back from a hardware class."""

    release: Named[str] = Column(Text, primary_key=True)
    hardware_class: Named[str] = Column(Text, primary_key=True)
    rollout: Named[str] = _rollout_column()
    why: Named[str] = Column(Text)
    at: Named[datetime] = Column(UtcDateTime)


class TurnColumns(TypedColumns):
    """One row per node that a rollout ever had. `holder`: the rollout that has it now."""

    node: Named[str] = node_column(primary_key=True)
    holder: Named[str | None] = Column(Text)
    epoch: Named[int] = Column(Integer)
    effect: Named[str] = Column(Text)
    came_from: Named[str | None] = Column(Text)
    cordoned: Named[bool] = Column(Boolean)
    label: Named[str | None] = Column(Text)
    active: Named[str | None] = Column(Text)
    blue: Named[str | None] = Column(Text)
    green: Named[str | None] = Column(Text)


ROLLOUTS = Table("rollouts", METADATA, RolloutColumns, Index(None, "closed_at"))
ROLLOUT_UNITS = Table("rollout_units", METADATA, UnitColumns)
ROLLOUT_NODES = Table("rollout_nodes", METADATA, NodeColumns)
ROLLOUT_LINES = Table("rollout_lines", METADATA, LineColumns, Index(None, "rollout", "id"))
REJECTED = Table("rejected_releases", METADATA, RejectedColumns)
TURNS = Table("node_turns", METADATA, TurnColumns, Index(None, "holder"))
