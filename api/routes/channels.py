"""Channels: which release a hardware class gets. Nobody writes a pointer: promotions move it, and rollbacks."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from api.auth import Reader, RequestId, RolloutOperator, Site
from api.fields import Body, Line, Word
from api.once import Once
from api.preconditions import Conditional, etag_of, require_match
from api.problems import documented
from api.routes.promotions import desk
from api.routes.releases import DIGEST
from api.views.channels import ChannelList, ChannelView, PointerView
from provisioner.capabilities.service import Service
from provisioner.errors import NotFound
from provisioner.models.channel import Channel, Pointer
from provisioner.models.identifiers import ReleaseDigest
from provisioner.promotion.history import earlier
from provisioner.services.promotions import Person

router = APIRouter(prefix="/v1/channels", tags=["channels"])

Class = Annotated[Word, Query(description="the hardware class: a channel has one pointer for each")]


class RollbackRequest(Body):
    """To which earlier release, and why."""

    release: Annotated[str, Field(pattern=DIGEST, description="one of `rollback_to`")]
    reason: Line


@router.get("", responses=documented(401, 403))
async def list_channels(service: Site, _: Reader) -> ChannelList:
    """Every pointer that there is."""
    return ChannelList(channels=[PointerView.of(one) for one in await service.promotion.channels.pointers()])


@router.get("/{channel}", responses=documented(401, 403, 404, 422))
async def show(service: Site, _: Reader, response: Response, channel: Channel, hardware_class: Class) -> ChannelView:
    """One pointer, its history, and what it may be rolled back to. `ETag` names what was seen."""
    return await _view(service, await _pointer(service, channel, hardware_class), response)


@router.post("/{channel}:rollback", responses=documented(400, 401, 403, 404, 409, 412, 413, 422, 428))
async def roll_back(
    service: Site,
    holder: RolloutOperator,
    once: Once,
    request: RequestId,
    conditional: Conditional,
    response: Response,
    channel: Channel,
    hardware_class: Class,
    body: RollbackRequest,
) -> ChannelView:
    """Back to an earlier release of its history, at once and without gates; the freeze does not hold it."""
    pointer = await _pointer(service, channel, hardware_class)
    if not once.done:
        require_match(conditional, etag_of(pointer.revision))
        who = Person(holder.name, request)
        pointer = await desk(service).roll_back(pointer, ReleaseDigest(body.release), body.reason, who)
    return await _view(service, pointer, response)


async def _pointer(service: Service, channel: Channel, hardware_class: str) -> Pointer:
    pointer = await service.promotion.channels.pointer(channel, hardware_class)
    if pointer is None:
        raise NotFound(f"nothing has been promoted to {channel} of {hardware_class} yet")
    return pointer


async def _view(service: Service, pointer: Pointer, response: Response) -> ChannelView:
    history = await service.promotion.channels.history(pointer.channel, pointer.hardware_class)
    response.headers["ETag"] = etag_of(pointer.revision)
    return ChannelView.assemble(pointer, earlier(history), history)
