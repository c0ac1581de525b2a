"""The description of this API."""

from typing import Any

from fastapi import APIRouter, Request

from api.auth import Reader
from api.problems import documented

router = APIRouter(prefix="/v1", tags=["openapi"])


@router.get("/openapi.json", responses=documented(401, 403))
async def openapi(request: Request, _: Reader) -> dict[str, Any]:
    """The OpenAPI document."""
    document: dict[str, Any] = request.app.openapi()
    return document
