"""What the agent on a booted node asks and reports."""

from fastapi import APIRouter, Response

from api.auth import Agent, Site
from api.problems import documented
from api.rate_limit import AsAgent
from api.views.agent import Beat, PlanForAgent, Registration, Result, SessionView
from provisioner.models.burn_in import Heartbeat
from provisioner.models.secret import Secret
from provisioner.services import agents

router = APIRouter(prefix="/v1/agent", tags=["agent"], dependencies=[AsAgent])


@router.post("/register", responses=documented(400, 401, 404, 409, 413, 422))
async def register(service: Site, body: Registration) -> SessionView:
    """Exchange the one-time token of this boot for a session. The same boot may ask again."""
    token = Secret(body.token.get_secret_value())
    session = await agents.register(service.world, service.runs, token, body.boot_id, body.image, body.root)
    return SessionView.of(session)


@router.get("/plan", response_model=PlanForAgent, responses={204: {"description": "Nothing to do"}, **documented(401)})
async def plan(service: Site, ticket: Agent) -> PlanForAgent | Response:
    """The checks that are left to run."""
    left = await agents.next_plan(service.world, ticket)
    return Response(status_code=204) if left is None else PlanForAgent.of(left)


@router.post("/heartbeats", status_code=204, responses=documented(400, 401, 413, 422))
async def heartbeat(service: Site, ticket: Agent, body: Beat) -> None:
    """A sign of life."""
    now = service.world.clock.now()
    beat = Heartbeat(ticket.node, now, body.boot_id, body.sequence, body.item, body.percent)
    await agents.beat(service.world, ticket, beat)


@router.post("/results", status_code=204, responses=documented(400, 401, 404, 413, 422))
async def result(service: Site, ticket: Agent, body: Result) -> None:
    """The outcome of one check; the same one again changes nothing."""
    await agents.record(service.world, service.runs, ticket, body.record())
