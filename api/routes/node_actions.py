"""What people do to nodes."""

from fastapi import APIRouter

from api.auth import Actor, Operator, RequestId, Site
from api.fields import Body, Line, NameInPath, Password, Word
from api.once import Once
from api.problems import documented
from api.views.nodes import NodeView
from provisioner.capabilities.service import Service
from provisioner.models.identifiers import NodeName
from provisioner.models.node import Node
from provisioner.models.secret import Credentials, Secret
from provisioner.services import handing, nodes, reimaging
from provisioner.services.glance import glance

router = APIRouter(prefix="/v1/nodes/{name}", tags=["nodes"])


class HoldRequest(Body):
    """Why the node shall stop where it is."""

    reason: Line


class ReimageRequest(Body):
    """The name of a release profile."""

    release: Word


class PasswordRequest(Body):
    """What the label on the chassis says."""

    username: Word
    password: Password


@router.post("/hold", responses=documented(400, 401, 403, 404, 409, 413, 422))
async def hold(
    service: Site, holder: Operator, once: Once, request: RequestId, name: NameInPath, body: HoldRequest
) -> NodeView:
    """Stop it where it is; it goes on when it is released."""
    if once.done:
        return await _now(service, once.done)
    return _view(service, await nodes.hold(service.world, NodeName(name), body.reason, holder.name, request=request))


@router.post("/release", responses=documented(400, 401, 403, 404, 409, 422))
async def release(service: Site, holder: Actor, once: Once, request: RequestId, name: NameInPath) -> NodeView:
    """What held it has been dealt with: it goes on where it was."""
    if once.done:
        return await _now(service, once.done)
    return _view(service, await nodes.release(service.world, NodeName(name), holder.name, request=request))


@router.post("/reimage", responses=documented(400, 401, 403, 404, 409, 413, 422))
async def reimage(
    service: Site, holder: Operator, once: Once, request: RequestId, name: NameInPath, body: ReimageRequest
) -> NodeView:
    """Give it another release: it goes through its installation again. One that runs it already is left alone."""
    if once.done:
        return await _now(service, once.done)
    await handing.refuse_in_hand(service.turns, NodeName(name))
    return _view(
        service, await reimaging.reimage(service.world, NodeName(name), body.release, holder.name, request=request)
    )


@router.post("/hand-over", responses=documented(400, 401, 403, 404, 409, 422))
async def hand_over(service: Site, holder: Operator, once: Once, request: RequestId, name: NameInPath) -> NodeView:
    """Into production, from ready or from maintenance."""
    if once.done:
        return await _now(service, once.done)
    handed = handing.hand_over(service.world, service.turns, NodeName(name), holder.name, request=request)
    return _view(service, await handed)


@router.post("/take-back", responses=documented(400, 401, 403, 404, 409, 422))
async def take_back(service: Site, holder: Operator, once: Once, request: RequestId, name: NameInPath) -> NodeView:
    """Out of production, for work on it; not while a rollout has it."""
    if once.done:
        return await _now(service, once.done)
    taken = handing.take_back(service.world, service.turns, NodeName(name), holder.name, request=request)
    return _view(service, await taken)


@router.post("/password", responses=documented(400, 401, 403, 404, 409, 413, 422))
async def password(
    service: Site, holder: Actor, _: Once, request: RequestId, name: NameInPath, body: PasswordRequest
) -> NodeView:
    """The BMC's password, as a person read it: it is tried once. To set the same one again does no harm."""
    credentials = Credentials(body.username, Secret(body.password.get_secret_value()))
    return _view(
        service, await nodes.set_password(service.world, NodeName(name), credentials, holder.name, request=request)
    )


@router.post("/trust", responses=documented(400, 401, 403, 404, 409, 422))
async def trust(service: Site, holder: Operator, once: Once, request: RequestId, name: NameInPath) -> NodeView:
    """The BMC's new certificate is right: the next one that it shows is pinned."""
    if once.done:
        return await _now(service, once.done)
    return _view(service, await nodes.trust(service.world, NodeName(name), holder.name, request=request))


async def _now(service: Service, name: str) -> NodeView:
    return _view(service, await service.world.nodes.get(NodeName(name)))


def _view(service: Service, node: Node) -> NodeView:
    return NodeView.of(glance(node, None, service.world.clock))
