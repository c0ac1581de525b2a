"""Promotions: a release on its way into a channel."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from api.auth import Approver, Reader, Requester, RequestId, Site
from api.cursors import not_ours, read_cursor, write_cursor
from api.fields import NODE_NAME, Body, Line, Word
from api.once import OnceRequired
from api.problems import documented
from api.routes.releases import DIGEST
from api.views.promotions import PromotionDetail, PromotionPage, PromotionView
from provisioner.capabilities.promotions import PromotionQuery
from provisioner.capabilities.service import Service
from provisioner.errors import NotFound
from provisioner.models.channel import Channel
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.promotion import GateName, Promotion, PromotionState
from provisioner.services.promotions import Order, Person, PromotionDesk, Wish

router = APIRouter(prefix="/v1/promotions", tags=["promotions"])

IdInPath = Annotated[str, Path(max_length=100, pattern=NODE_NAME)]
_CHANGE = documented(400, 401, 403, 404, 409, 413, 422)


class PromotionRequest(Body):
    """Which release, into which channel of its hardware class, and why."""

    channel: Channel
    release: Annotated[str, Field(pattern=DIGEST, description="the digest of a release that is kept")]
    reason: Line


class Reason(Body):
    """Why."""

    reason: Line


class WaiverRequest(Body):
    """Which gate, why, and for how long. The second person who sends it confirms what the first has asked for."""

    gate: GateName
    reason: Line
    hours: Annotated[float, Field(gt=0, le=24 * 365)] = 24.0


class PromotionsQuery(Body):
    """Which promotions, and which page of them."""

    state: PromotionState | None = None
    channel: Channel | None = None
    hardware_class: Word | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    cursor: Annotated[str | None, Field(max_length=1000, description="`next` of the page before")] = None


@router.get("", responses=documented(401, 403, 422))
async def list_promotions(service: Site, _: Reader, query: Annotated[PromotionsQuery, Query()]) -> PromotionPage:
    """Newest first, page by page."""
    after = None if query.cursor is None else read_cursor(query.cursor)
    asked = PromotionQuery(query.state, query.channel, query.hardware_class)
    try:
        found = await service.promotion.promotions.page(asked, after, query.limit + 1)
    except NotFound as error:
        raise not_ours() from error
    page = found[: query.limit]
    more = write_cursor(page[-1].id) if len(found) > query.limit else None
    return PromotionPage(promotions=[PromotionView.of(one) for one in page], next=more)


@router.post("", status_code=201, responses={200: {"model": PromotionDetail}, **_CHANGE})
async def request_promotion(
    service: Site,
    holder: Requester,
    once: OnceRequired,
    request: RequestId,
    response: Response,
    body: PromotionRequest,
) -> PromotionDetail:
    """Ask for it. The same release again is the promotion that is open: 200; another release supersedes that one."""
    if once.done:
        promotion, new = await service.promotion.promotions.get(once.done), True
    else:
        order = Order(body.channel, ReleaseDigest(body.release), body.reason)
        promotion, new = await desk(service).request(order, Person(holder.name, request))
    response.status_code = 201 if new else 200
    response.headers["Location"] = f"/v1/promotions/{promotion.id}"
    return await _detail(service, promotion)


@router.get("/{name}", responses=documented(401, 403, 404, 422))
async def show(service: Site, _: Reader, name: IdInPath) -> PromotionDetail:
    """Everything about one: each gate, what it misses, and what to do about it."""
    return await _detail(service, await service.promotion.promotions.get(name))


@router.post("/{name}:approve", responses=_CHANGE)
async def approve(
    service: Site, holder: Approver, once: OnceRequired, request: RequestId, name: IdInPath
) -> PromotionDetail:
    """A second person has looked at the evidence, and says yes."""
    if once.done:
        return await show(service, holder, name)
    return await _detail(service, await desk(service).approve(name, Person(holder.name, request)))


@router.post("/{name}:reject", responses=_CHANGE)
async def reject(
    service: Site, holder: Approver, once: OnceRequired, request: RequestId, name: IdInPath, body: Reason
) -> PromotionDetail:
    """A person says no: it is over."""
    if once.done:
        return await show(service, holder, name)
    rejected = await desk(service).reject(name, Person(holder.name, request), body.reason)
    return await _detail(service, rejected)


@router.post("/{name}:cancel", responses=_CHANGE)
async def cancel(
    service: Site, holder: Requester, once: OnceRequired, request: RequestId, name: IdInPath
) -> PromotionDetail:
    """Nobody wants it any more."""
    if once.done:
        return await show(service, holder, name)
    return await _detail(service, await desk(service).cancel(name, Person(holder.name, request)))


@router.post("/{name}:waive", responses=_CHANGE)
async def waive(
    service: Site, holder: Approver, once: OnceRequired, request: RequestId, name: IdInPath, body: WaiverRequest
) -> PromotionDetail:
    """Do without a gate: one person asks, a second one confirms. Some gates nobody waives."""
    if once.done:
        return await show(service, holder, name)
    wish = Wish(body.gate, body.reason, timedelta(hours=body.hours))
    return await _detail(service, await desk(service).waive(name, wish, Person(holder.name, request)))


def desk(service: Service) -> PromotionDesk:
    """Where people request promotions and decide about them."""
    return PromotionDesk(service.world, service.promotion)


async def _detail(service: Service, promotion: Promotion) -> PromotionDetail:
    return PromotionDetail.assemble(promotion, await service.promotion.promotions.history(promotion.id))
