"""Releases: the unit that is promoted, by content."""

from typing import Annotated, Self

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field, model_validator

from api.auth import Builder, Reader, RequestId, Site
from api.cursors import not_ours, read_cursor, write_cursor
from api.fields import Body, Word
from api.once import Once
from api.preconditions import etag_of
from api.problems import documented
from api.views.releases import ReleaseDetail, ReleasePage, ReleaseView
from profiles.fields import Name
from profiles.models import ReleaseProfile
from profiles.release_constraints import ReleaseConstraints
from provisioner.capabilities.service import Service
from provisioner.errors import NotFound
from provisioner.models.identifiers import ReleaseDigest
from provisioner.services.promotions import Person
from provisioner.services.releases import ReleaseDesk, ReleaseOrder

router = APIRouter(prefix="/v1/releases", tags=["releases"])

DIGEST = r"^sha256:[0-9a-f]{64}$"
DigestInPath = Annotated[str, Path(pattern=DIGEST)]


class ReleaseRequest(Body):
    """A release profile by name in `profile`, or one that is written out: `name` and one profile of each kind."""

    profile: Annotated[Word | None, Field(description="the name of a release profile")] = None
    name: Name | None = None
    hardware_class: Word | None = None
    image: Word | None = None
    firmware: Word | None = None
    bios: Word | None = None
    burn_in: Word | None = None
    constraints: ReleaseConstraints | None = None

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        parts = (self.name, self.hardware_class, self.image, self.firmware, self.bios, self.burn_in)
        given = [one is not None for one in parts]
        if not (all(given) and self.profile is None) and not (self.profile is not None and not any(given)):
            raise ValueError("write profile alone, or name, hardware_class, image, firmware, bios and burn_in")
        return self

    def order(self) -> ReleaseOrder:
        """For the service."""
        if self.profile is not None:
            return ReleaseOrder(profile=self.profile, constraints=self.constraints, at="/profile")
        written = ReleaseProfile.model_construct(
            name=self.name or "",
            description="made over the API",
            hardware_class=self.hardware_class or "",
            image=self.image or "",
            firmware=self.firmware or "",
            bios=self.bios or "",
            burn_in=self.burn_in or "",
        )
        return ReleaseOrder(written=written, constraints=self.constraints)


class ReleaseQuery(Body):
    """Which releases, and which page of them."""

    hardware_class: Word | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    cursor: Annotated[str | None, Field(max_length=1000, description="`next` of the page before")] = None


@router.get("", responses=documented(401, 403, 422))
async def list_releases(service: Site, _: Reader, query: Annotated[ReleaseQuery, Query()]) -> ReleasePage:
    """Newest first, page by page; those of the site's own configuration last."""
    after = None if query.cursor is None else ReleaseDigest(read_cursor(query.cursor))
    try:
        found = await service.promotion.releases.page(query.hardware_class, after, query.limit + 1)
    except NotFound as error:
        raise not_ours() from error
    page = found[: query.limit]
    more = write_cursor(page[-1].digest) if len(found) > query.limit else None
    return ReleasePage(releases=[ReleaseView.of(one) for one in page], next=more)


@router.post("", status_code=201, responses={200: {"model": ReleaseDetail}, **documented(400, 401, 403, 409, 413, 422)})
async def make(
    service: Site, holder: Builder, once: Once, request: RequestId, response: Response, body: ReleaseRequest
) -> ReleaseDetail:
    """Make one from profiles as they are now. Equal content is the same release: 200."""
    at = desk(service)
    if once.done:
        made = await at.show(ReleaseDigest(once.done))
        response.status_code = 201
    else:
        made = await at.make(body.order(), Person(holder.name, request))
        response.status_code = 201 if made.new else 200
    response.headers["Location"] = f"/v1/releases/{made.record.digest}"
    return ReleaseDetail.of(made)


@router.get("/{digest}", responses=documented(401, 403, 404, 422))
async def show(service: Site, _: Reader, response: Response, digest: DigestInPath) -> ReleaseDetail:
    """Everything that is in one, and how its parts go together as known today."""
    made = await desk(service).show(ReleaseDigest(digest))
    response.headers["ETag"] = etag_of(digest)
    return ReleaseDetail.of(made)


def desk(service: Service) -> ReleaseDesk:
    """Where releases are made and read."""
    return ReleaseDesk(service.world, service.promotion, service.catalog)
