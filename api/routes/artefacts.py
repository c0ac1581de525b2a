"""Files by digest, as firmware, BMCs and nodes fetch them: under names that nobody can guess, and without a token."""

from typing import Annotated

from fastapi import APIRouter, Header, Response
from fastapi.responses import FileResponse
from starlette.types import Message, Receive, Scope, Send

from api.auth import Site
from api.problems import documented, of_status, respond
from images.digest import DigestError, parse_digest
from provisioner.errors import NotFound

router = APIRouter(prefix="/v1/artefacts", tags=["artefacts"])

_FOR_EVER = "public, max-age=31536000, immutable"
_FILE = {"description": "The file, or the range of it", "content": {"application/octet-stream": {}}}


class ArtefactFile(FileResponse):
    """A file with ranges, in bigger blocks: each costs a change of threads."""

    chunk_size = 2**18

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a range that cannot be with a problem."""
        refused: Response | None = None

        async def watched(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and message["status"] >= 400:
                wanted = dict(message["headers"]).get(b"content-range", b"").decode()
                headers = {"Content-Range": wanted} if wanted else None
                refused = respond(scope, of_status(message["status"]), "no such range in this file", headers=headers)
            if refused is None:
                await send(message)

        await super().__call__(scope, receive, watched)
        if refused is not None:
            await refused(scope, receive, send)


@router.head("/{digest}", include_in_schema=False)
@router.get(
    "/{digest}",
    response_class=ArtefactFile,
    responses={200: _FILE, 206: _FILE, 304: {"description": "As the asker has it"}, **documented(400, 404, 416, 422)},
)
async def artefact(service: Site, digest: str, if_none_match: Annotated[str | None, Header()] = None) -> Response:
    """The file with this digest; it never changes."""
    try:
        name = parse_digest(digest)
    except DigestError as error:
        raise NotFound("no file is named so: sha256: and 64 lower-case hex digits") from error
    headers = {"ETag": f'"{name}"', "Cache-Control": _FOR_EVER}
    path = service.world.artefacts.path(name)
    if if_none_match is not None and any(one.strip() in {f'"{name}"', "*"} for one in if_none_match.split(",")):
        return Response(status_code=304, headers=headers)
    return ArtefactFile(path, media_type="application/octet-stream", headers=headers)
