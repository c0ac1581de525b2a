"""What would be done to firmware, and what runs beside what should."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from api.auth import Reader, Site
from api.fields import Body, NameInPath, Word
from api.problems import documented
from api.views.firmware import ComplianceView, FirmwarePlanView, PoolPlanView
from provisioner.models.identifiers import NodeName
from provisioner.services import firmware

router = APIRouter(prefix="/v1", tags=["firmware"])


class PoolQuery(Body):
    """Which nodes; neither given: all."""

    pool: Annotated[Word | None, Field(description="the name of a hardware class")] = None
    rack: Word | None = None


@router.get("/nodes/{name}/firmware-plan", responses=documented(401, 403, 404, 409, 422, 502, 504))
async def plan_of_node(service: Site, _: Reader, name: NameInPath) -> FirmwarePlanView:
    """What would be done to its firmware now, in stages. Reads its BMC, and changes nothing."""
    return FirmwarePlanView.of(await firmware.plan_node(service.world, NodeName(name)))


@router.get("/firmware/plan", responses=documented(401, 403, 404, 422))
async def plan_of_pool(service: Site, _: Reader, query: Annotated[PoolQuery, Query()]) -> PoolPlanView:
    """What would be done to many nodes, as their last inventories say; asks no BMC."""
    return PoolPlanView.of(await firmware.plan_of_pool(service.world, query.pool, query.rack))


@router.get("/firmware/compliance", responses=documented(401, 403, 404, 422))
async def compliance(service: Site, _: Reader, query: Annotated[PoolQuery, Query()]) -> ComplianceView:
    """What many nodes run beside what they should, as their last inventories say; asks no BMC."""
    return ComplianceView.of(await firmware.compliance_of_pool(service.world, query.pool, query.rack))
