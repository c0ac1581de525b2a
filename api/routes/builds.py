"""Builds of images."""

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from api.auth import Builder, RequestId, Site
from api.fields import Body, Word
from api.once import Once
from api.problems import documented
from api.views.operations import OperationView
from images.building.request import PublishLevel
from provisioner.services import builds

router = APIRouter(prefix="/v1/builds", tags=["builds"])


class BuildBody(Body):
    """Which image profile."""

    profile: Annotated[Word, Field(description="the name of an image profile")]
    update: Annotated[bool, Field(description="choose packages anew from what the mirrors have now")] = False
    level: Annotated[PublishLevel, Field(description="high: a smaller root, minutes of compressing")] = PublishLevel.LOW

    def order(self) -> builds.BuildOrder:
        """For the service."""
        return builds.BuildOrder(self.profile, self.update, self.level.value)


@router.post("", status_code=HTTPStatus.ACCEPTED, responses=documented(400, 401, 403, 404, 409, 413, 422))
async def build(
    service: Site, holder: Builder, once: Once, request: RequestId, response: Response, body: BuildBody
) -> OperationView:
    """Build an image; `Location` is the operation. The same build, while it goes on, is the same operation."""
    if once.done:
        operation = await service.operations.get(once.done)
    else:
        who, clock = holder.name, service.world.clock
        operation = await builds.order(
            service.operations, service.catalog, clock, body.order(), who=who, request=request
        )
    response.headers["Location"] = f"/v1/operations/{operation.id}"
    return OperationView.of(operation)
