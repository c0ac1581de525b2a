"""A long list, page by page."""

import base64
import binascii
from collections.abc import Sequence

import orjson
from fastapi.exceptions import RequestValidationError

from provisioner.models.node import Node

_Place = tuple[str, int, str]
_NOT_OURS = {"type": "cursor", "loc": ("query", "cursor"), "msg": "not one of ours; take `next` of the page before"}


def page_after(nodes: Sequence[Node], cursor: str | None, limit: int) -> tuple[Sequence[Node], str | None]:
    """The first `limit` nodes behind the cursor, and the next cursor. Raises `RequestValidationError`.

    The cursor names a place and not a count: what comes or goes meanwhile shifts nothing.
    """
    ordered = sorted(nodes, key=_place)
    if cursor is not None:
        last = _read(cursor)
        ordered = [one for one in ordered if _place(one) > last]
    page = ordered[:limit]
    return page, _write(_place(page[-1])) if len(ordered) > limit else None


def _place(node: Node) -> _Place:
    return node.rack, node.position, node.name


def _write(place: _Place) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(place)).decode().rstrip("=")


def _read(cursor: str) -> _Place:
    try:
        rack, position, name = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        if isinstance(rack, str) and isinstance(position, int) and isinstance(name, str):
            return rack, position, name
    except (binascii.Error, ValueError, TypeError):
        pass
    raise RequestValidationError([_NOT_OURS])
