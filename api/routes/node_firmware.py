"""What was done to a node's firmware."""

from typing import Annotated

from fastapi import APIRouter, Query

from api.auth import Reader, Site
from api.fields import NameInPath
from api.problems import documented
from api.views.update_journal import UpdateJournalView
from provisioner.models.identifiers import NodeName

router = APIRouter(prefix="/v1/nodes/{name}/firmware", tags=["nodes"])

_Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("", responses=documented(401, 403, 404, 422))
async def update_journal(service: Site, _: Reader, name: NameInPath, limit: _Limit = 200) -> UpdateJournalView:
    """The node's last firmware updates, oldest first: how far each has come, when, and what the device said."""
    node = await service.world.nodes.get(NodeName(name))
    return UpdateJournalView.of(node.name, await service.world.journal.history(node.name, limit))
