"""Operations: what takes longer than a request."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from api.auth import Builder, Reader, RequestId, Site
from api.cursors import not_ours, read_cursor, write_cursor
from api.fields import NODE_NAME, Body
from api.once import Once
from api.problems import documented
from api.views.operations import OperationPage, OperationView
from provisioner.errors import NotFound
from provisioner.services import builds

router = APIRouter(prefix="/v1/operations", tags=["operations"])

_NameInPath = Annotated[str, Path(max_length=100, pattern=NODE_NAME)]


class OperationQuery(Body):
    """Which operations, and which page of them."""

    kind: Annotated[str | None, Field(max_length=50, pattern=NODE_NAME)] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    cursor: Annotated[str | None, Field(max_length=1000, description="`next` of the page before")] = None


@router.get("", responses=documented(401, 403, 422))
async def list_operations(service: Site, _: Reader, query: Annotated[OperationQuery, Query()]) -> OperationPage:
    """Newest first, page by page."""
    after = None if query.cursor is None else read_cursor(query.cursor)
    try:
        found = await service.operations.page(query.kind, after, query.limit + 1)
    except NotFound as error:
        raise not_ours() from error
    page = found[: query.limit]
    return OperationPage.of(page, write_cursor(page[-1].id) if len(found) > query.limit else None)


@router.get("/{name}", responses=documented(401, 403, 404, 422))
async def show(service: Site, _: Reader, name: _NameInPath) -> OperationView:
    """How far it is, and how it ended."""
    return OperationView.of(await service.operations.get(name))


@router.post("/{name}:cancel", responses=documented(400, 401, 403, 404, 409, 422))
async def cancel(service: Site, holder: Builder, once: Once, request: RequestId, name: _NameInPath) -> OperationView:
    """End it as soon as can be. One that has ended stays as it is."""
    if once.done:
        return OperationView.of(await service.operations.get(once.done))
    clock = service.world.clock
    return OperationView.of(await builds.cancel(service.operations, name, clock, who=holder.name, request=request))
