"""A long list, page by page."""

from collections.abc import Sequence

import orjson

from api.cursors import not_ours, read_cursor, write_cursor
from provisioner.models.node import Node, Place


def place_in(cursor: str | None) -> Place | None:
    """Where the page before ended. Raises `RequestValidationError`.

    The cursor names a place and not a count: what comes or goes meanwhile shifts nothing.
    """
    return None if cursor is None else _read(cursor)


def page_of(found: Sequence[Node], limit: int) -> tuple[Sequence[Node], str | None]:
    """The page, and the next cursor. `found`: one more than the limit, where there are more."""
    page = found[:limit]
    return page, _write(_place(page[-1])) if len(found) > limit else None


def _place(node: Node) -> Place:
    return node.rack, node.position, node.name


def _write(place: Place) -> str:
    return write_cursor(orjson.dumps(place).decode())


def _read(cursor: str) -> Place:
    try:
        rack, position, name = orjson.loads(read_cursor(cursor))
    except (ValueError, TypeError) as error:
        raise not_ours() from error
    if not (isinstance(rack, str) and isinstance(position, int) and isinstance(name, str)):
        raise not_ours()
    return rack, position, name
