"""Campaigns: a pool of nodes on its way to the firmware bundle of a release."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from api.auth import Operator, Reader, RequestId, Site
from api.cursors import not_ours, read_cursor, write_cursor
from api.fields import NODE_NAME, Body, Word
from api.once import Once, Try
from api.problems import documented
from api.views.campaigns import CampaignDetail, CampaignPage, CampaignView
from provisioner.campaigns import people
from provisioner.capabilities.service import Service
from provisioner.errors import NotFound
from provisioner.models.campaign import Campaign, CampaignLimits, CampaignState
from provisioner.services import campaigns

router = APIRouter(prefix="/v1/campaigns", tags=["campaigns"])

_Name = Annotated[str, Field(min_length=1, max_length=100, pattern=NODE_NAME)]
_NameInPath = Annotated[str, Path(max_length=100, pattern=NODE_NAME)]
_AtOnce = Annotated[int, Field(ge=1, le=100_000)]


class CampaignRequest(Body):
    """Which nodes, to which release, and how many at once. Neither racks nor nodes: the whole hardware class."""

    name: Annotated[_Name, Field(description="its own for ever; the same order under it again is the same campaign")]
    release: Annotated[Word, Field(description="the name of a release profile")]
    hardware_class: Word | None = None
    racks: Annotated[tuple[Word, ...], Field(max_length=10_000)] = ()
    nodes: Annotated[tuple[Word, ...], Field(max_length=100_000)] = ()
    per_rack: _AtOnce = 2
    per_site: _AtOnce = 16
    canaries: Annotated[int, Field(ge=0, le=1000, description="ready again before any other is started")] = 1
    ready_within_seconds: Annotated[float | None, Field(ge=1, le=10**7, description="else by the release")] = None

    def order(self) -> campaigns.Order:
        """For the service."""
        seconds = self.ready_within_seconds
        return campaigns.Order(
            name=self.name,
            release=self.release,
            hardware_class=self.hardware_class,
            racks=self.racks,
            nodes=self.nodes,
            limits=CampaignLimits(self.per_rack, self.per_site, self.canaries),
            ready_within=None if seconds is None else timedelta(seconds=seconds),
        )


class CampaignQuery(Body):
    """Which campaigns, and which page of them."""

    state: CampaignState | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    cursor: Annotated[str | None, Field(max_length=1000, description="`next` of the page before")] = None


@router.get("", responses=documented(401, 403, 422))
async def list_campaigns(service: Site, _: Reader, query: Annotated[CampaignQuery, Query()]) -> CampaignPage:
    """Newest first, page by page."""
    after = None if query.cursor is None else read_cursor(query.cursor)
    try:
        found = await service.campaigns.page(query.state, after, query.limit + 1)
    except NotFound as error:
        raise not_ours() from error
    page = found[: query.limit]
    more = write_cursor(page[-1].name) if len(found) > query.limit else None
    return CampaignPage(campaigns=[CampaignView.of(one) for one in page], next=more)


@router.post("", responses=documented(400, 401, 403, 404, 409, 413, 422))
async def start(
    service: Site, holder: Operator, once: Once, request: RequestId, body: CampaignRequest
) -> CampaignDetail:
    """Begin one. The same order under the same name again changes nothing."""
    if once.done:
        return await _detail(service, await service.campaigns.get(once.done))
    one = await campaigns.start(service.world, service.campaigns, body.order(), holder.name, request=request)
    return await _detail(service, one)


@router.get("/{name}", responses=documented(401, 403, 404, 422))
async def show(service: Site, _: Reader, name: _NameInPath) -> CampaignDetail:
    """Everything about one."""
    return await _detail(service, await service.campaigns.get(name))


@router.post("/{name}/pause", responses=documented(400, 401, 403, 404, 409, 422))
async def pause(service: Site, holder: Reader, once: Once, request: RequestId, name: _NameInPath) -> CampaignDetail:
    """Start nothing more; what runs goes on. Anyone may."""
    return await _changed(service, name, people.pause, holder.name, once=once, request=request)


@router.post("/{name}/resume", responses=documented(400, 401, 403, 404, 409, 422))
async def resume(service: Site, holder: Operator, once: Once, request: RequestId, name: _NameInPath) -> CampaignDetail:
    """A person has looked at what stopped it: go on."""
    return await _changed(service, name, people.resume, holder.name, once=once, request=request)


@router.post("/{name}/abort", responses=documented(400, 401, 403, 404, 409, 422))
async def abort(service: Site, holder: Operator, once: Once, request: RequestId, name: _NameInPath) -> CampaignDetail:
    """Never start anything again; what runs goes on."""
    return await _changed(service, name, people.abort, holder.name, once=once, request=request)


async def _changed(
    service: Service, name: str, action: people.Action, who: str, *, once: Try, request: str
) -> CampaignDetail:
    if once.done:
        return await _detail(service, await service.campaigns.get(name))
    one = await campaigns.change(service.world, service.campaigns, name, action, who, request=request)
    return await _detail(service, one)


async def _detail(service: Service, one: Campaign) -> CampaignDetail:
    return CampaignDetail.assemble(one, await service.campaigns.history(one.name))
