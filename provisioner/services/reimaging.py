"""Give a node another release."""

from profiles.release import Release
from provisioner.capabilities.world import World
from provisioner.errors import BadInput, Conflict
from provisioner.models.audit import AuditEntry
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.node import Node

_REFUSED = {
    State.IN_PRODUCTION: "somebody works on it",
    State.MAINTENANCE: "somebody works at it",
    State.DECOMMISSIONING: "it is on its way out",
    State.DECOMMISSIONED: "it is out of service",
}
"""Why a node in this state, or held from it, is not installed anew."""


async def reimage(world: World, name: NodeName, release: str, who: str, *, request: str = "") -> Node:
    """From `inventoried` on again with the release of this name; a hold ends with it. Asked again, it changes nothing.

    Raises `NotFound` for a node or a release that is none, and `Conflict` with why it cannot be.
    """
    node = await world.nodes.get(name)
    wanted = _resolved(world, release)
    _check(node, wanted)
    now = world.clock.now()
    audit: AuditEntry | None = AuditEntry(
        now, who, "node.reimage", name, before=node.release, after=wanted.digest, request=request
    )
    if node.release != wanted.digest or (node.hold is not None and node.held_from is not State.INVENTORIED):
        await world.documents.put_release(wanted)
        reason = f"{who} gives it release {release} ({wanted.digest[:19]})"
        if node.hold is not None:
            reason += f", which ends its hold: {node.hold.reason}"
        await world.nodes.desire(name, ReleaseDigest(wanted.digest), reason, now, seen=node, audit=audit)
        node = await world.nodes.get(name)
        audit = None
    if node.hold is not None:
        await world.nodes.let_go(node, f"{who} gives it release {release}", now, audit=audit)
    return await world.nodes.get(name)


def _resolved(world: World, release: str) -> Release:
    try:
        return world.releases.named(release)
    except BadInput as error:
        raise Conflict(str(error)) from error


def _check(node: Node, wanted: Release) -> None:
    for state in (node.state, node.held_from):
        if state in _REFUSED:
            held = " and held" if node.hold is not None else ""
            raise Conflict(f"{node.name} is {state.value}{held}: {_REFUSED[state]}, and a new image would end that")
    if node.hardware_class not in {None, wanted.hardware_class.name}:
        raise Conflict(f"{wanted.name} is for {wanted.hardware_class.name}, and {node.name} is {node.hardware_class}")
