"""What is known about nodes."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from api.auth import Reader, Site
from api.fields import Body, NameInPath, Word
from api.pages import page_of, place_in
from api.problems import documented
from api.views.node_detail import BurnInView, InventoryView, NodeDetail
from api.views.nodes import ExplanationView, History, NodePage, NodeView, PlanView
from provisioner.capabilities.world import World
from provisioner.errors import NotFound
from provisioner.models.identifiers import NodeName
from provisioner.models.lifecycle import State
from provisioner.models.node import Which
from provisioner.services import nodes, plans
from provisioner.services.glance import glance

router = APIRouter(prefix="/v1/nodes", tags=["nodes"])

_Limit = Annotated[int, Query(ge=1, le=500)]


class NodeQuery(Body):
    """Which nodes, and which page of them."""

    state: State | None = None
    rack: Word | None = None
    held: Annotated[bool | None, Field(description="only those that are held, or only those that are not")] = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    cursor: Annotated[str | None, Field(max_length=1000, description="`next` of the page before")] = None

    def which(self) -> Which:
        """The filters."""
        return Which(self.state, self.rack, self.held)


@router.get("", responses=documented(401, 403, 422))
async def list_nodes(service: Site, _: Reader, query: Annotated[NodeQuery, Query()]) -> NodePage:
    """The nodes by rack and position, page by page."""
    world = service.world
    found = await world.nodes.page(query.which(), place_in(query.cursor), query.limit + 1)
    page, cursor = page_of(found, query.limit)
    progress = {one.node: one for one in await world.documents.progress([node.name for node in page])}
    lines = [NodeView.of(glance(node, progress.get(node.name), world.clock)) for node in page]
    return NodePage(nodes=lines, next=cursor)


@router.get("/{name}", responses=documented(401, 403, 404, 422))
async def show_node(service: Site, _: Reader, name: NameInPath) -> NodeDetail:
    """Everything about one node: its last inventory and its last burn-in too."""
    world = service.world
    node = await world.nodes.get(NodeName(name))
    progress = next(iter(await world.documents.progress([node.name])), None)
    return NodeDetail.assemble(
        glance(node, progress, world.clock), await _inventory(world, node.name), await _burn_in(world, node.name)
    )


@router.get("/{name}/history", responses=documented(401, 403, 404, 422))
async def history(service: Site, _: Reader, name: NameInPath, limit: _Limit = 200) -> History:
    """The node's last events, oldest first."""
    node = await service.world.nodes.get(NodeName(name))
    return History.of(await service.world.events.of(node.name, limit))


@router.get("/{name}/why", responses=documented(401, 403, 404, 422))
async def why(service: Site, _: Reader, name: NameInPath) -> ExplanationView:
    """Why it is where it is, and what comes next."""
    return ExplanationView.of(await nodes.explain(service.world, NodeName(name)))


@router.get("/{name}/plan", responses=documented(401, 403, 404, 409, 422, 502, 504))
async def plan(service: Site, _: Reader, name: NameInPath) -> PlanView:
    """What would be done to it now, in order. Reads its BMC, and changes nothing."""
    return PlanView.of(await plans.plan(service.world, NodeName(name)))


async def _inventory(world: World, name: NodeName) -> InventoryView | None:
    try:
        return InventoryView.of(await world.documents.inventory(name))
    except NotFound:
        return None


async def _burn_in(world: World, name: NodeName) -> BurnInView | None:
    run = await world.burn_ins.latest(name)
    if run is None:
        return None
    return BurnInView.of(run, await world.burn_ins.results(run.run), await world.burn_ins.heartbeat(name))
