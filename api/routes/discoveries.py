"""BMCs and hosts that nobody expects, and nodes that do not answer."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from api.auth import Reader, Site
from api.fields import Body
from api.problems import documented
from api.views.discoveries import DiscoveriesView
from provisioner.services.discoveries import discoveries, unknown_hosts

router = APIRouter(prefix="/v1/discoveries", tags=["discoveries"])


class DiscoveryQuery(Body):
    """How much to tell."""

    expected: Annotated[bool, Field(description="list the BMCs too that answer where the plan has a node")] = False


@router.get("", responses=documented(401, 403, 422))
async def list_discoveries(service: Site, _: Reader, query: Annotated[DiscoveryQuery, Query()]) -> DiscoveriesView:
    """What the last scan means for the nodes as they are now, each with what one person does about it."""
    told = await discoveries(service.world.nodes, service.found)
    hosts = await unknown_hosts(service.world.hosts)
    return DiscoveriesView.of(told, hosts, with_expected=query.expected)
