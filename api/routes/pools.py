"""Pools: what rollouts go through."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.auth import Reader, Site
from api.fields import NODE_NAME
from api.problems import documented
from api.views.graph import GraphView
from api.views.pools import PoolList, PoolView
from provisioner.errors import NotFound
from provisioner.services.graph import graph
from provisioner.services.pools import pools

router = APIRouter(prefix="/v1", tags=["rollouts"])

_Pool = Annotated[str, Query(min_length=1, max_length=100, pattern=NODE_NAME)]


@router.get("/graph", responses=documented(401, 403, 404, 422))
async def show_graph(service: Site, _: Reader, pool: _Pool) -> GraphView:
    """From what the pool runs to where it may go: what refuses a way, and what has no way back."""
    settings = service.pools.get(pool)
    if settings is None:
        raise NotFound(f"no pool is called {pool}; there are {', '.join(sorted(service.pools))}")
    return GraphView.of(await graph(service.world, service.promotion, service.rollouts, pool, settings))


@router.get("/pools", responses=documented(401, 403))
async def list_pools(service: Site, _: Reader) -> PoolList:
    """Every pool: what it runs, what its channel wants, and what must stay in service."""
    found = await pools(service.world, service.rollouts, service.channels, service.pools)
    return PoolList(pools=[PoolView.of(one) for one in found])
