"""The tables of channels."""

from datetime import datetime

from sqlalchemy import Column, ForeignKey, Integer, Named, Table, Text, TypedColumns

from provisioner.store.columns import UtcDateTime
from provisioner.store.metadata import METADATA


def release_column() -> Column[str]:
    """The digest of a release that is in the table of releases: no pointer dangles."""
    return Column(Text, ForeignKey("releases.digest"), nullable=False)


class ChannelColumns(TypedColumns):
    """One row per channel and hardware class that something was promoted to."""

    channel: Named[str] = Column(Text, primary_key=True)
    hardware_class: Named[str] = Column(Text, primary_key=True)
    release: Named[str] = release_column()
    revision: Named[int] = Column(Integer)
    since: Named[datetime] = Column(UtcDateTime)
    who: Named[str] = Column(Text)


class MovementColumns(TypedColumns):
    """One row per move of a pointer."""

    channel: Named[str] = Column(Text, primary_key=True)
    hardware_class: Named[str] = Column(Text, primary_key=True)
    revision: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    release: Named[str] = release_column()
    at: Named[datetime] = Column(UtcDateTime)
    who: Named[str] = Column(Text)
    reason: Named[str] = Column(Text)
    promotion: Named[str | None] = Column(Text)


CHANNELS = Table("channels", METADATA, ChannelColumns)
MOVEMENTS = Table("channel_movements", METADATA, MovementColumns)
