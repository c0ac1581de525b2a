"""Files by digest, as firmware, BMCs and nodes fetch them: under names that nobody can guess, and without a token."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import FileResponse
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from api.auth import Site
from api.limits import SMALL_BYTES, STALL_SECONDS, AllTaken, Downloads
from api.problems import documented, of_status, respond
from images.digest import DigestError, parse_digest
from provisioner.capabilities.service import Service
from provisioner.errors import NotFound
from provisioner.pulls import Pull
from provisioner.upload_limit import UploadLimit

router = APIRouter(prefix="/v1/artefacts", tags=["artefacts"])

_FOR_EVER = "public, max-age=31536000, immutable"
_FILE = {"description": "The file, or the range of it", "content": {"application/octet-stream": {}}}


class ArtefactFile(FileResponse):
    """A file with ranges, in bigger blocks: each costs a change of threads."""

    chunk_size = 2**18
    downloads: Downloads | None = None
    """Where set, a large file needs one of its places."""
    uploads: UploadLimit | None = None
    """Where set, it leaves no faster than this."""
    pulled: Callable[[int, bool], None] | None = None
    """Where set, told how many bytes left, and whether that was all: before the first one (0), and at the end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a range that cannot be, and one file too many, with a problem."""
        if self.pulled is None or scope["method"] == "HEAD":
            await self._serve(scope, receive, send)
            return
        sent, whole, good = 0, False, False

        async def counted(message: Message) -> None:
            nonlocal sent, whole, good
            if good and not sent and message.get("body") and self.pulled is not None:
                self.pulled(sent, whole)
            await send(message)
            if message["type"] == "http.response.start":
                good = message["status"] < 300
            sent += len(message.get("body", b""))
            whole = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await self._serve(scope, receive, counted)
        finally:
            if good and sent:
                self.pulled(sent, whole)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.downloads is None or scope["method"] == "HEAD" or Path(self.path).stat().st_size < SMALL_BYTES:
            await self._answer(scope, receive, self._paced(send))
            return
        try:
            with self.downloads.place():
                await self._answer(scope, receive, self._paced(_impatient(send)))
        except AllTaken as error:
            headers = {"Retry-After": str(error.retry_after)}
            busy = respond(scope, of_status(503), str(error), headers=headers)
            await busy(scope, receive, send)

    def _paced(self, send: Send) -> Send:
        async def paced(message: Message) -> None:
            if self.uploads is not None:
                await self.uploads.take(len(message.get("body", b"")))
            await send(message)

        return paced

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
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


def _impatient(send: Send) -> Send:
    """Raises `ClientDisconnect` when the client takes nothing for too long: its connection is closed."""

    async def watched(message: Message) -> None:
        try:
            async with asyncio.timeout(STALL_SECONDS):
                await send(message)
        except TimeoutError as error:
            raise ClientDisconnect from error

    return watched


@router.head("/{digest}", include_in_schema=False)
@router.get(
    "/{digest}",
    response_class=ArtefactFile,
    responses={
        200: _FILE,
        206: _FILE,
        304: {"description": "As the asker has it"},
        **documented(400, 404, 416, 422, 503),
    },
)
async def artefact(
    request: Request, service: Site, digest: str, if_none_match: Annotated[str | None, Header()] = None
) -> Response:
    """The file with this digest; it never changes. 503: too many are on their way, come back after `Retry-After`."""
    try:
        name = parse_digest(digest)
    except DigestError as error:
        raise NotFound("no file is named so: sha256: and 64 lower-case hex digits") from error
    headers = {"ETag": f'"{name}"', "Cache-Control": _FOR_EVER}
    path = service.world.artefacts.path(name)
    if if_none_match is not None and any(one.strip() in {f'"{name}"', "*"} for one in if_none_match.split(",")):
        return Response(status_code=304, headers=headers)
    file = ArtefactFile(path, media_type="application/octet-stream", headers=headers)
    file.downloads = request.app.state.downloads
    if name in service.packages:
        file.uploads = service.uploads
        file.pulled = _noted(service, request, name)
    return file


def _noted(service: Service, request: Request, digest: str) -> Callable[[int, bool], None]:
    address = request.client.host if request.client else ""

    def note(sent: int, whole: bool) -> None:  # noqa: FBT001  (called by ArtefactFile alone)
        service.world.pulls.note(Pull(address, digest, service.world.clock.now(), sent, whole))

    return note
