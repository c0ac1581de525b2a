"""A long list, page by page."""

import base64
import binascii
from collections.abc import Sequence

import orjson
from fastapi.exceptions import RequestValidationError

from provisioner.models.node import Node, Place

_NOT_OURS = {"type": "cursor", "loc": ("query", "cursor"), "msg": "not one of ours; take `next` of the page before"}


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
    return base64.urlsafe_b64encode(orjson.dumps(place)).decode().rstrip("=")


def _read(cursor: str) -> Place:
    try:
        rack, position, name = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if isinstance(rack, str) and isinstance(position, int) and isinstance(name, str):
            return rack, position, name
    except (binascii.Error, ValueError, TypeError):
        pass
    raise RequestValidationError([_NOT_OURS])
