"""Who changed what."""

import base64
import binascii
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.exceptions import RequestValidationError
from pydantic import Field

from api.auth import Admin, Site
from api.fields import Body
from api.problems import documented
from api.views.audit import AuditPage

router = APIRouter(prefix="/v1/audit", tags=["audit"])

_NOT_OURS = {"type": "cursor", "loc": ("query", "cursor"), "msg": "not one of ours; take `next` of the page before"}
_LAST = 2**63 - 1


class AuditQuery(Body):
    """Which page."""

    limit: Annotated[int, Field(ge=1, le=500)] = 100
    cursor: Annotated[str | None, Field(max_length=1000, description="`next` of the page before")] = None


@router.get("", responses=documented(401, 403, 422))
async def list_lines(service: Site, _: Admin, query: Annotated[AuditQuery, Query()]) -> AuditPage:
    """The audit log, oldest first, page by page: each line is chained to the one before by its digest."""
    after = 0 if query.cursor is None else _read(query.cursor)
    found = await service.audit.page(after, query.limit + 1)
    page = found[: query.limit]
    return AuditPage.of(page, _write(page[-1].number) if len(found) > query.limit else None)


def _read(cursor: str) -> int:
    """The number of the last line of the page before."""
    try:
        number = int(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode())
        if 0 <= number <= _LAST:
            return number
    except (binascii.Error, ValueError):
        pass
    raise RequestValidationError([_NOT_OURS])


def _write(number: int) -> str:
    return base64.urlsafe_b64encode(str(number).encode()).decode().rstrip("=")
