"""Opaque cursors of pages: what they hold is nobody's business but the route's that wrote them."""

import base64
import binascii

from fastapi.exceptions import RequestValidationError

_LAST = 2**63 - 1
_NOT_OURS = {"type": "cursor", "loc": ("query", "cursor"), "msg": "not one of ours; take `next` of the page before"}


def not_ours() -> RequestValidationError:
    """For a cursor that names nothing (any more)."""
    return RequestValidationError([_NOT_OURS])


def read_cursor(cursor: str) -> str:
    """What was written into it. Raises `RequestValidationError`."""
    try:
        return base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
    except (binascii.Error, ValueError) as error:
        raise not_ours() from error


def write_cursor(text: str) -> str:
    """For `read_cursor`."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_number(cursor: str | None) -> int:
    """The number that was written into it, 0 where there is no page before. Raises `RequestValidationError`."""
    if cursor is None:
        return 0
    try:
        number = int(read_cursor(cursor))
    except ValueError as error:
        raise not_ours() from error
    if not 0 <= number <= _LAST:
        raise not_ours()
    return number
