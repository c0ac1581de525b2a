"""Pools: what rollouts go through."""

from fastapi import APIRouter

from api.auth import Reader, Site
from api.problems import documented
from api.views.pools import PoolList, PoolView
from provisioner.services.pools import pools

router = APIRouter(prefix="/v1/pools", tags=["rollouts"])


@router.get("", responses=documented(401, 403))
async def list_pools(service: Site, _: Reader) -> PoolList:
    """Every pool: what it runs, what its channel wants, and what must stay in service."""
    found = await pools(service.world, service.rollouts, service.channels, service.pools)
    return PoolList(pools=[PoolView.of(one) for one in found])
