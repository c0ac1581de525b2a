"""Is the service alive? For load balancers and supervisors; says no more than that."""

import asyncio
from typing import Literal

import structlog
from fastapi import APIRouter, Response
from pydantic import BaseModel

from api.auth import Site
from provisioner.capabilities.service import Service

_log = structlog.get_logger(__name__)

router = APIRouter(tags=["health"])

_PATIENCE_SECONDS = 5.0
_BEYOND_EVERY_EVENT = 2**63 - 1


class Health(BaseModel):
    """`unavailable`: the log says what is."""

    status: Literal["ok", "unavailable"]


@router.get("/healthz", responses={503: {"description": "Database or engine do not answer", "model": Health}})
async def healthz(service: Site, response: Response) -> Health:
    """One round trip to the database and one to the engine."""
    try:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await _round_trip(service)
    except Exception as error:  # noqa: BLE001 - whatever it is, we are not well
        _log.error("health_check_failed", error=f"{type(error).__name__}: {error}")
        response.status_code = 503
        return Health(status="unavailable")
    return Health(status="ok")


async def _round_trip(service: Service) -> None:
    await service.world.events.after(_BEYOND_EVERY_EVENT, limit=1)
    await service.runs.active()
