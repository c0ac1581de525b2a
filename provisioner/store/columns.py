"""Column types that mean the same on both databases."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, DateTime, Dialect, ForeignKey, Row, Text
from sqlalchemy.types import TypeDecorator

AnyRow = Row[*tuple[Any, ...]]
"""A row whose columns the reader knows and mypy does not."""


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime, UTC. SQLite keeps no zone, so it is taken off and put on here; a naive one is refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To the database."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a datetime without a zone is no moment")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """From the database."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


def node_column(**options: Any) -> Column[str]:
    """The name of a node that is in the table of nodes."""
    return Column(Text, ForeignKey("nodes.name"), nullable=False, **options)
