"""What people may ask about nodes and do to them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from provisioner.capabilities.world import World
from provisioner.errors import Conflict
from provisioner.lifecycle.table import RULES, remaining
from provisioner.models.audit import AuditEntry
from provisioner.models.event import Event
from provisioner.models.identifiers import NodeName
from provisioner.models.instruction import Hold, Instruction, Owner
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.operation import Progress
from provisioner.models.secret import Credentials


@dataclass(frozen=True, slots=True)
class Explanation:
    """Where a node is, what it waits for, and what comes next. Exactly one of `instruction` and `wait` is given,
    or neither when it rests where it should be.
    """

    node: Node
    doing: str
    since: datetime
    owner: Owner
    instruction: Instruction | None
    wait: timedelta | None
    """How long the rest of the way to ready normally takes, at the site's pace."""
    progress: Progress | None
    history: Sequence[Event]


async def explain(world: World, name: NodeName) -> Explanation:
    """Answer `why`. Raises `NotFound`."""
    node = await world.nodes.get(name)
    rule = RULES[node.state]
    progress = next(iter(await world.documents.progress([name])), None)
    current = progress if progress is not None and rule.operation == progress.operation else None
    return Explanation(
        node=node,
        doing=current.doing if current else rule.doing,
        since=node.state_since,
        owner=node.hold.instruction.owner if node.hold else rule.owner,
        instruction=node.hold.instruction if node.hold else None,
        wait=timedelta(seconds=world.clock.wall(remaining(node.state))) if rule.operation else None,
        progress=current,
        history=await world.events.of(name, limit=20),
    )


async def hold(world: World, name: NodeName, reason: str, who: str, *, request: str = "") -> Node:
    """A person stops a node where it is. `request`: its id, for the audit log. Raises `NotFound`, `Conflict`."""
    node = await world.nodes.get(name)
    if node.state is State.DECOMMISSIONED:
        raise Conflict(f"{name} is {node.state}: there is nothing to hold")
    instruction = Instruction(
        owner=Owner.OPERATOR,
        where=node.place,
        what=f"ask {who}, who held it; then: firstlight node release {name}",
        done_when="it is released",
    )
    why = Hold(f"{reason} (held by {who})", instruction, world.clock.now())
    if not await world.nodes.hold(node, why, audit=AuditEntry(why.since, who, "node.hold", name, request=request)):
        raise Conflict(f"{name} has moved on meanwhile: look again")
    return await world.nodes.get(name)


async def release(world: World, name: NodeName, who: str, *, request: str = "") -> Node:
    """A person says that what held the node has been dealt with. Raises `NotFound`, `Conflict`."""
    node = await world.nodes.get(name)
    if node.hold is None:
        raise Conflict(f"{name} is not held; it is {node.state}")
    now = world.clock.now()
    audit = AuditEntry(now, who, "node.release", name, request=request)
    if not await world.nodes.let_go(node, f"released by {who}", now, audit=audit):
        raise Conflict(f"{name} has moved on meanwhile: look again")
    return await world.nodes.get(name)


async def set_password(world: World, name: NodeName, credentials: Credentials, who: str, *, request: str = "") -> Node:
    """A person has read the BMC's label: forget the failed logins and try this, once. Raises `NotFound`.

    Our own password did not work, so this may be another board or one that was reset: a held node that is not in
    production starts from the beginning.
    """
    node = await world.nodes.get(name)
    now = world.clock.now()
    audit = AuditEntry(now, who, "node.password", name, request=request)
    await world.vault.replace(name, credentials, audit=audit)
    await world.logins.clear(str(node.bmc), credentials.username)
    if node.hold is not None:
        reason = f"BMC password entered by {who}"
        if RULES[node.held_from or State.DISCOVERED].operation is None:
            await world.nodes.let_go(node, reason, now)
        else:
            await world.nodes.advance(node, State.DISCOVERED, reason, now)
    return await world.nodes.get(name)


async def trust(world: World, name: NodeName, who: str, *, request: str = "") -> Node:
    """A person says that the BMC's new certificate is right: the next one shown is pinned. Raises `NotFound`."""
    node = await world.nodes.get(name)
    now, pinned = world.clock.now(), await world.certificates.pinned(str(node.bmc))
    before = f"sha256:{pinned}" if pinned else None
    audit = AuditEntry(now, who, "node.trust", name, before=before, request=request)
    await world.certificates.forget(str(node.bmc), audit=audit)
    if node.hold is not None:
        await world.nodes.let_go(node, f"new BMC certificate trusted by {who}", now)
    return await world.nodes.get(name)
