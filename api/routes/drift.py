"""Nodes that have drifted from their firmware bundles."""

from fastapi import APIRouter

from api.auth import Reader, Site
from api.problems import documented
from api.views.campaigns import DriftView, FindingView

router = APIRouter(prefix="/v1/firmware/drift", tags=["firmware"])


@router.get("", responses=documented(401, 403))
async def list_findings(service: Site, _: Reader) -> DriftView:
    """Every finding that stands; nothing is ever done about one."""
    readings = await service.drift.readings()
    return DriftView(
        findings=[FindingView.of(one) for one in await service.drift.findings()],
        nodes_read=len(readings),
        oldest_reading_at=min((one.at for one in readings), default=None),
    )
