"""Who changed what."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from api.auth import Admin, Site
from api.cursors import read_number, write_cursor
from api.fields import Body
from api.problems import documented
from api.views.audit import AuditPage

router = APIRouter(prefix="/v1/audit", tags=["audit"])


class AuditQuery(Body):
    """Which page."""

    limit: Annotated[int, Field(ge=1, le=500)] = 100
    cursor: Annotated[str | None, Field(max_length=1000, description="`next` of the page before")] = None


@router.get("", responses=documented(401, 403, 422))
async def list_lines(service: Site, _: Admin, query: Annotated[AuditQuery, Query()]) -> AuditPage:
    """The audit log, oldest first, page by page: each line is chained to the one before by its digest."""
    after = read_number(query.cursor)
    found = await service.audit.page(after, query.limit + 1)
    page = found[: query.limit]
    return AuditPage.of(page, write_cursor(str(page[-1].number)) if len(found) > query.limit else None)
