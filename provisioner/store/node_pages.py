"""Lists of nodes, page by page, in the order of their places."""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Connection, select, tuple_

from provisioner.models.node import Node, Place, Which
from provisioner.store.node_rows import NODE_COLUMNS, node
from provisioner.store.node_table import NODES

_PLACE = (NODES.c.rack, NODES.c.position, NODES.c.name)


def page_of(connection: Connection, *, which: Which, after: Place | None, limit: int) -> list[Node]:
    """At most `limit` of those that fit, behind the place `after`."""
    query = select(*NODE_COLUMNS).where(*_fit(which)).order_by(*_PLACE).limit(limit)
    if after is not None:
        query = query.where(tuple_(*_PLACE) > tuple_(*after))
    return [node(row) for row in connection.execute(query)]


def _fit(which: Which) -> Iterator[ColumnElement[bool]]:
    if which.state is not None:
        yield NODES.c.state == which.state.value
    if which.rack is not None:
        yield NODES.c.rack == which.rack
    if which.held is not None:
        yield NODES.c.hold.is_not(None) if which.held else NODES.c.hold.is_(None)
