"""What firmware asks: what do I boot now? It has no token: the boot key in the path, or who it is, stands for one."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import PlainTextResponse

from api.auth import Site
from api.boot_script import boot_script
from api.problems import documented
from provisioner.models.secret import Secret
from provisioner.services import boots

router = APIRouter(prefix="/boot", tags=["boot"], default_response_class=PlainTextResponse)

_Said = Annotated[str, Query(max_length=200)]
_NO_STORE = {"Cache-Control": "no-store"}


@router.head("/ipxe", include_in_schema=False)
@router.get("/ipxe", responses=documented(422))
async def boot_by_identity(service: Site, uuid: _Said, serial: _Said) -> PlainTextResponse:
    """Firmware that came by PXE says who it is. What else it says (`mac`, `arch`) decides nothing."""
    answer = await boots.by_identity(service.world, uuid=uuid, serial=serial)
    return PlainTextResponse(boot_script(answer, service.world.public_url), headers=_NO_STORE)


@router.head("/{key}", include_in_schema=False)
@router.get("/{key}", responses=documented(422))
async def boot_by_key(service: Site, key: Annotated[str, Path(max_length=200)]) -> PlainTextResponse:
    """Firmware that was given this URI through its BMC. HEAD, which some firmware sends first, tells the length."""
    answer = await boots.by_key(service.world, Secret(key))
    return PlainTextResponse(boot_script(answer, service.world.public_url), headers=_NO_STORE)
