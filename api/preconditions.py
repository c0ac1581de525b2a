"""Changes that are made only to what the asker has seen: ETag out, If-Match in (RFC 9110, sections 8.8.3 and 13.1.1).

A check here tells early. What makes the change still compares the revision in its own transaction: the `Conflict`
that it raises is a 409.
"""

import re
from typing import Annotated

from fastapi import Depends, Header, Request

from api.problems import HeaderError

_TAG = r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_LIST = re.compile(rf"[ \t,]*{_TAG}(?:[ \t]*,[ \t]*(?:{_TAG})?)*[ \t]*")
_TAGS = re.compile(_TAG)

_IfMatch = Annotated[
    str | None,
    Header(alias="If-Match", max_length=1000, description="the `ETag` of what the asker has seen, or `*`; else 428"),
]


async def _conditional(request: Request, _: _IfMatch = None) -> Request:
    return request


Conditional = Annotated[Request, Depends(_conditional)]
"""The request, for `require_match`; the description of the route then has If-Match."""


def etag_of(revision: int | str) -> str:
    """The strong tag of a revision or a digest. Raises `ValueError` for what no tag can hold."""
    tag = f'"{revision}"'
    if not re.fullmatch(_TAG, tag):
        raise ValueError(f"{revision!r} cannot be an entity tag")
    return tag


def require_match(request: Request, etag: str | None) -> None:
    """The request may change what has `etag`; None: nothing is there.

    Answers 428 without If-Match, 412 where none of its tags is this one, 400 where it is no list of tags. Tags are
    compared strongly: a weak one never matches. `*` matches whatever is there.
    """
    given = ", ".join(request.headers.getlist("If-Match"))
    if not given.strip():
        raise HeaderError(428, "If-Match", "is missing: read it first, and send the ETag of the answer")
    if etag is None or not _matches(given, etag):
        raise HeaderError(412, "If-Match", "is not the ETag of what is there now: read it again")


def _matches(given: str, etag: str) -> bool:
    if given.strip() == "*":
        return True
    if not _LIST.fullmatch(given):
        raise HeaderError(400, "If-Match", 'is no list of entity tags: write "TAG", "TAG", or *')
    return etag in _TAGS.findall(given)
