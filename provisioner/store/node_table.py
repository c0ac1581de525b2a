"""The table of nodes."""

from datetime import datetime

from sqlalchemy import Column, Index, Integer, Named, Table, Text, TypedColumns

from provisioner.store.columns import UtcDateTime
from provisioner.store.metadata import METADATA


class NodeColumns(TypedColumns):
    """One row per node."""

    name: Named[str] = Column(Text, primary_key=True)
    rack: Named[str] = Column(Text)
    position: Named[int] = Column(Integer)
    bmc_host: Named[str] = Column(Text)
    bmc_port: Named[int] = Column(Integer)
    state: Named[str] = Column(Text)
    state_since: Named[datetime] = Column(UtcDateTime)
    generation: Named[int] = Column(Integer)
    attempt: Named[int] = Column(Integer)
    failures: Named[int] = Column(Integer)
    retry_at: Named[datetime | None] = Column(UtcDateTime)
    expected_serial: Named[str | None] = Column(Text)
    serial: Named[str | None] = Column(Text)
    uuid: Named[str | None] = Column(Text)
    manufacturer: Named[str | None] = Column(Text)
    model: Named[str | None] = Column(Text)
    hardware_class: Named[str | None] = Column(Text)
    release: Named[str | None] = Column(Text)
    observed_image: Named[str | None] = Column(Text)
    hold: Named[str | None] = Column(Text)
    held_from: Named[str | None] = Column(Text)
    visited: Named[str] = Column(Text)
    serial_key: Named[str | None] = Column(Text)
    uuid_key: Named[str | None] = Column(Text)
    domain_tray: Named[str | None] = Column(Text)
    domain_chassis: Named[str | None] = Column(Text)
    domain_power: Named[str | None] = Column(Text)


NODES = Table(
    "nodes",
    METADATA,
    NodeColumns,
    Index(None, "state"),
    Index(None, "rack", "position", "name"),
    Index(None, "serial_key"),
    Index(None, "uuid_key"),
)
"""`hold`: JSON of a `Hold`. `visited`: the states of this generation, with spaces between. `serial_key` and
`uuid_key`: what the node says of itself, trimmed and in lower case; NULL where it says nothing."""
