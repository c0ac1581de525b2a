"""Images: what is in them, what is said of them, how two differ. A digest never means anything else: kept for long."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from api.auth import Reader, Site
from api.problems import documented
from api.views.images import ImageDiff, ImageView, StatementList
from provisioner.services import images

router = APIRouter(prefix="/v1/images", tags=["images"])

_Digest = Annotated[str, Path(max_length=71, pattern=r"^sha256:[0-9a-f]{64}$")]
_KEPT = "private, max-age=31536000, immutable"
_CYCLONEDX = "application/vnd.cyclonedx+json"
_SBOM: dict[int | str, dict[str, Any]] = {
    200: {"description": "The CycloneDX document", "content": {_CYCLONEDX: {"schema": {"type": "object"}}}}
}


@router.get("/{digest}", responses=documented(401, 403, 404, 422))
async def show(service: Site, _: Reader, response: Response, digest: _Digest) -> ImageView:
    """Its files, and what it boots with."""
    response.headers["Cache-Control"] = _KEPT
    return ImageView.of(await asyncio.to_thread(service.world.artefacts.manifest, digest))


@router.get("/{digest}/sbom", response_class=Response, responses={**_SBOM, **documented(401, 403, 404, 422)})
async def sbom(service: Site, _: Reader, digest: _Digest) -> Response:
    """What it is made of, with versions and hashes; 404 for an image that is not built of packages."""
    content = await images.sbom(service.world.artefacts, digest)
    return Response(content, media_type=_CYCLONEDX, headers={"Cache-Control": _KEPT})


@router.get("/{digest}/statements", responses=documented(401, 403, 404, 422))
async def statements(service: Site, _: Reader, digest: _Digest) -> StatementList:
    """What is said of it and believed: provenance, SBOM, tests, burn-ins, promotions. More may be said later."""
    await asyncio.to_thread(service.world.artefacts.manifest, digest)
    return StatementList.of(await service.promotion.statements.about(digest))


@router.get("/{digest}/diff/{other}", responses=documented(401, 403, 404, 422))
async def diff(service: Site, _: Reader, response: Response, digest: _Digest, other: _Digest) -> ImageDiff:
    """Packages, kernel, command line and files that change from one image to another."""
    response.headers["Cache-Control"] = _KEPT
    found = await images.differences(service.world.artefacts, digest, other)
    return ImageDiff.of(digest, other, found)
