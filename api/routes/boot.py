"""What firmware asks: what do I boot now? It has no token: the boot key in the path, or who it is, stands for one.

And what an initrd asks and reports. HEAD, which some firmware sends first (EDK2's HttpBootDxe), counts as nothing.
What a whole hall asks at once takes the service from its request: FastAPI's dependency costs a twentieth of an answer.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Request, Response, Security
from fastapi.responses import PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.auth import Site, service_of
from api.boot_script import boot_script
from api.fields import Body, Line
from api.problems import documented
from api.rate_limit import AsBoot
from api.routes.artefacts import ArtefactFile
from images.boot_program.build import BootProgram
from provisioner.boot.answer import Answer, BootImage, Discover
from provisioner.boot.words import node_words
from provisioner.capabilities.service import Service
from provisioner.models.boot import Caller, FailureKind
from provisioner.models.secret import Secret
from provisioner.services import boots
from provisioner.services.agents import NotAdmitted

router = APIRouter(prefix="/boot", tags=["boot"], default_response_class=PlainTextResponse, dependencies=[AsBoot])

_Said = Annotated[str, Query(max_length=200)]
_Key = Annotated[str, Path(max_length=200)]
_NO_STORE = {"Cache-Control": "no-store"}
_EFI = "application/efi"
_PROGRAM = {"description": "The program, or the range of it", "content": {_EFI: {}}}
_LEAVE = {"description": "Nothing to boot, and why", "content": {"text/plain": {}}}
_TOKEN = HTTPBearer(auto_error=False, scheme_name="boot", description="The one-time token of this boot")


async def _caller(request: Request, uuid: _Said = "", serial: _Said = "", mac: _Said = "", arch: _Said = "") -> Caller:
    return Caller(uuid=uuid, serial=serial, mac=mac, arch=arch, address=_address(request))


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


_Caller = Annotated[Caller, Depends(_caller)]


class Failure(Body):
    """Why an initrd gave up."""

    kind: FailureKind
    detail: Line


@router.head("/ipxe", include_in_schema=False)
@router.get("/ipxe", responses=documented(422))
async def boot_by_identity(request: Request, caller: _Caller) -> PlainTextResponse:
    """Firmware that came by PXE says who it is."""
    service = await service_of(request)
    return await _script(service, request, await boots.answer_identity(service.world, caller))


@router.get("/words", responses={409: _LEAVE, **documented(422)})
async def boot_words(request: Request, caller: _Caller, image: _Said = "") -> PlainTextResponse:
    """The initrd of a program that is the same for all nodes asks for the words of this boot, one on each line."""
    answer = await boots.answer_initrd((await service_of(request)).world, caller, image)
    if not isinstance(answer, BootImage):
        return PlainTextResponse(f"{_reason(answer)}\n", 409, _NO_STORE)
    return PlainTextResponse("".join(f"{word}\n" for word in node_words(answer.ticket)), 200, _NO_STORE)


@router.post("/failures", status_code=204, responses=documented(400, 401, 409, 413, 422))
async def boot_failure(
    service: Site, body: Failure, given: Annotated[HTTPAuthorizationCredentials | None, Security(_TOKEN)]
) -> None:
    """The initrd says why it gave up, before it powers its host off."""
    if given is None:
        raise NotAdmitted("this needs the token of the boot")
    await boots.report_failure(service.world, service.runs, Secret(given.credentials), body.kind, body.detail)


@router.head("/uefi/{arch}.efi", include_in_schema=False)
@router.get("/uefi/{arch}.efi", responses={200: _PROGRAM, 206: _PROGRAM, 404: _LEAVE, **documented(416, 422)})
async def boot_by_address(service: Site, request: Request, arch: Literal["x86_64", "arm64"]) -> Response:
    """UEFI HTTP boot of firmware that was told by DHCP: the node is known by the address that it got.

    Where it is not, our DHCP server did not give it: iPXE is the answer, which then says who the server is.
    """
    answer = await boots.answer_address(service.world, Caller(arch=arch, address=_address(request)))
    if isinstance(answer, Discover):
        ipxe = await service.world.artefacts.ipxe(arch)
        return _leave(answer) if ipxe is None else _file(service, request, ipxe)
    return await _program(service, request, answer)


@router.head("/{key}/{file}.efi", include_in_schema=False)
@router.get("/{key}/{file}.efi", responses={200: _PROGRAM, 206: _PROGRAM, 404: _LEAVE, **documented(416, 422)})
async def boot_program(request: Request, key: _Key, file: _Key) -> Response:  # noqa: ARG001 - any name
    """UEFI HTTP boot of firmware that was given this URI through its BMC."""
    service = await service_of(request)
    return await _program(service, request, await boots.answer_key(service.world, Secret(key)))


@router.head("/{key}", include_in_schema=False)
@router.get("/{key}", responses=documented(422))
async def boot_by_key(request: Request, key: _Key) -> PlainTextResponse:
    """iPXE that was given this URI."""
    service = await service_of(request)
    return await _script(service, request, await boots.answer_key(service.world, Secret(key)))


async def _script(service: Service, request: Request, answer: Answer) -> PlainTextResponse:
    text = await boot_script(answer, service.world)
    if isinstance(answer, BootImage) and request.method == "GET":
        await boots.served(service.world, answer)
    return PlainTextResponse(text, headers=_NO_STORE)


async def _program(service: Service, request: Request, answer: Answer) -> Response:
    if not isinstance(answer, BootImage):
        return _leave(answer)
    program = await service.world.artefacts.uki(answer.ticket.image)
    if program is None:
        return PlainTextResponse("this image has no program for UEFI\n", 404, _NO_STORE)
    if request.method == "GET" and _from_start(request):
        await boots.served(service.world, answer, program=True)
    return _file(service, request, program)


def _file(service: Service, request: Request, program: BootProgram) -> Response:
    """With its digest as ETag: a transfer that breaks goes on where it was, also through a cache.

    Looked at here: a thread for it costs ten times what it takes.
    """
    etag = f'"{program.digest}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if request.headers.get("If-None-Match") == etag:
        return Response(status_code=304, headers=headers)
    path = service.world.artefacts.path(program.digest)
    return ArtefactFile(path, media_type=_EFI, headers=headers, stat_result=path.stat())


def _from_start(request: Request) -> bool:
    """Not the rest of a transfer that broke."""
    return request.headers.get("Range", "bytes=0-").replace(" ", "").startswith("bytes=0-")


def _leave(answer: Answer) -> PlainTextResponse:
    return PlainTextResponse(f"{_reason(answer)}\n", 404, _NO_STORE)


def _reason(answer: Answer) -> str:
    """One line, whatever somebody wrote."""
    if isinstance(answer, Discover):
        return "this server is on no list: add it to the expected list of the site and switch it on again"
    text = "" if isinstance(answer, BootImage) else answer.reason
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
