"""Profiles before they are written into a file. Nothing is kept."""

import asyncio
from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter
from pydantic import Field, model_validator

from api.auth import Reader, Site
from api.fields import Body, Word
from api.problems import documented
from api.routes.releases import desk
from api.views.profiles import Explanation, ResolvedImage, ValidationView
from api.views.releases import ReleaseContent
from profiles.images.debian import DebianImage
from profiles.images.lock import profile_digest
from provisioner.capabilities.service import Service
from provisioner.errors import Refused
from provisioner.services.profiles import Kind, ProfileReader
from provisioner.services.releases import ReleaseOrder

router = APIRouter(prefix="/v1/profiles", tags=["profiles"])

_Document = Annotated[dict[str, Any], Field(description="what would be in the file", max_length=200)]
_ANSWERS = documented(400, 401, 403, 404, 413, 422)


class ProfileDocument(Body):
    """A profile, and which kind of."""

    kind: Kind
    document: _Document


class ProfileQuestion(Body):
    """A profile of the site by name, or a document."""

    kind: Literal[Kind.IMAGES, Kind.RELEASES] = Kind.IMAGES
    name: Word | None = None
    document: _Document | None = None

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        if (self.name is None) == (self.document is None):
            raise ValueError("write one of name and document")
        return self


class ImageQuestion(ProfileQuestion):
    """An image profile of the site by name, or a document."""

    kind: Literal[Kind.IMAGES] = Kind.IMAGES


@router.post(":validate", responses=documented(400, 401, 413, 422))
async def check(service: Site, _: Reader, body: ProfileDocument) -> ValidationView:
    """Everything that is wrong with it alone, at once."""
    return ValidationView.of(await asyncio.to_thread(reader(service).validate, body.kind, body.document))


@router.post(":resolve", responses=_ANSWERS)
async def resolve(service: Site, _: Reader, body: ProfileQuestion) -> ResolvedImage | ReleaseContent:
    """What it comes to: an image with everything that it inherits, a release with its digest and what is said of it."""
    if body.kind is Kind.RELEASES:
        document = body.document
        written = None if document is None else await asyncio.to_thread(reader(service).release, document)
        at = "/name" if document is None else "/document"
        release, reasons = await desk(service).resolve(ReleaseOrder(profile=body.name, written=written, at=at))
        return ReleaseContent.content_of(release, reasons)
    loaded = await asyncio.to_thread(reader(service).image, body.name, body.document)
    image = loaded.profile
    if image is None:
        raise Refused("image", [("/name", "it is abstract: it is there for others to inherit; name one that does")])
    digest = profile_digest(image) if isinstance(image, DebianImage) else None
    return ResolvedImage(name=image.name, digest=digest, content=image.model_dump(mode="json"))


@router.post(":explain", responses=_ANSWERS)
async def explain(service: Site, _: Reader, body: ImageQuestion) -> Explanation:
    """Where each value of an image comes from, and what it won against."""
    return Explanation.of(await asyncio.to_thread(reader(service).explain, body.name, body.document))


def reader(service: Service) -> ProfileReader:
    """Reads profiles."""
    return ProfileReader(service.profiles)
