"""For Prometheus."""

from collections import Counter
from dataclasses import dataclass, field

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from api.auth import Reader, Site
from api.metrics import exposition, families, fleet_families
from api.problems import documented
from provisioner.capabilities.records import Events
from provisioner.models.event import EventKind
from provisioner.services.discoveries import discoveries

router = APIRouter(tags=["metrics"])

_BATCH = 5000


@dataclass(slots=True)
class EventCount:
    """Events by kind. Each event is read once: what was counted stays counted when it is thrown away."""

    last: int = 0
    kinds: Counter[EventKind] = field(default_factory=Counter)

    async def catch_up(self, events: Events) -> Counter[EventKind]:
        """Count what is new."""
        while found := await events.after(self.last, _BATCH):
            fresh = [event for event in found if event.id > self.last]  # another scrape may have been faster
            self.kinds.update(event.kind for event in fresh)
            self.last = max(self.last, found[-1].id)
        return self.kinds


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"description": "Metrics", "content": {"text/plain": {}}}, **documented(401, 403)},
)
async def metrics(request: Request, service: Site, _: Reader) -> Response:
    """Counted for this scrape."""
    world, state = service.world, request.app.state
    nodes = await world.nodes.all()
    events = await state.event_count.catch_up(world.events)
    found = await discoveries(world.nodes, service.found)
    fleet = fleet_families(await service.drift.findings(), await service.campaigns.counts())
    text = exposition([*families(nodes, events, found, now=world.clock.now()), *fleet], state.registry)
    return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)
