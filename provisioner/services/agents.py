"""What a node's agent may ask."""

import hmac
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from profiles.models import BurnInItem
from provisioner.capabilities.clock import Clock
from provisioner.capabilities.runs import Runs
from provisioner.capabilities.world import World
from provisioner.errors import Conflict, NotFound
from provisioner.models.boot import BootTicket
from provisioner.models.burn_in import BurnInRun, CheckResult, Heartbeat, ResultStatus
from provisioner.models.identifiers import NodeName, OperationId, RunKey
from provisioner.models.lifecycle import State
from provisioner.models.secret import Secret
from provisioner.operations.boot import AGENT
from provisioner.operations.burn_in import RESULT
from provisioner.operations.reach import release_of

_SHORTEST_LOAD_SECONDS = 0.01
"""Enough for one round of every check."""


@dataclass(frozen=True, slots=True)
class Session:
    """What an agent gets for its boot token."""

    token: Secret
    node: NodeName
    heartbeat_seconds: float


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One check to run, with its parameters at the site's pace."""

    id: str
    kind: str
    parameters: dict[str, float]
    deadline_seconds: float


@dataclass(frozen=True, slots=True)
class AgentPlan:
    """What is left of a burn-in run."""

    run: str
    attempt: int
    items: tuple[PlanItem, ...]


class NotAdmitted(NotFound):
    """No such token or session. Says no more, to whoever asks."""


async def register(world: World, runs: Runs, token: Secret, boot_id: str, image: str, root: str) -> Session:
    """The node reports what it booted. The same boot may ask again and gets the same answer.

    Raises `NotAdmitted` for a token that we never gave, `Conflict` when another boot has used it or a newer boot
    permission has replaced it.
    """
    ticket = await world.boots.by_token(token)
    if ticket is None:
        raise NotAdmitted("this token is not known")
    latest = await world.boots.latest(ticket.node)
    if latest is None or latest.token != ticket.token:
        raise Conflict("a newer boot of this node has replaced this one")
    at = world.clock.now()
    ticket = await world.boots.registered(ticket, boot_id, image, root, at)
    await world.nodes.observe_image(ticket.node, image, at)
    await runs.signal(RunKey("boot", ticket.node, ticket.generation, ticket.attempt).id, AGENT)
    release = await release_of(world, ticket.node)
    return Session(_session(ticket), ticket.node, release.burn_in.heartbeat.total_seconds())


async def admit(world: World, session: Secret) -> BootTicket:
    """The boot that a session belongs to. Raises `NotAdmitted`."""
    node, _, _ = session.reveal().partition(":")
    ticket = await world.boots.latest(NodeName(node))
    if ticket is None or ticket.boot_id is None or not _equal(_session(ticket), session):
        raise NotAdmitted("this session is not known")
    return ticket


async def next_plan(world: World, ticket: BootTicket) -> AgentPlan | None:
    """What is left to do in the node's open run; None when there is nothing to do now."""
    node = await world.nodes.get(ticket.node)
    run = await world.burn_ins.latest(ticket.node)
    if node.state is not State.BURNING_IN or node.hold is not None or run is None or not _of(run, ticket):
        return None
    release = await release_of(world, node.name)
    done = {result.item for result in await world.burn_ins.results(run.run)}
    left = tuple(_item(item, world.clock) for item in release.burn_in.items if item.id not in done)
    return AgentPlan(run.run, run.attempt, left) if left else None


async def record(world: World, runs: Runs, ticket: BootTicket, result: CheckResult) -> None:
    """Keep one result. Raises `NotFound` when the run is not this boot's."""
    run = await world.burn_ins.latest(ticket.node)
    if run is None or run.run != result.run or not _of(run, ticket):
        raise NotFound(f"{result.run} is not an open run of this node")
    await world.burn_ins.record(result)
    release = await release_of(world, ticket.node)
    done = {one.item for one in await world.burn_ins.results(run.run)}
    if result.status is not ResultStatus.PASS or all(item.id in done for item in release.burn_in.items):
        await runs.signal(OperationId(run.run), RESULT)  # nothing else changes the verdict


async def beat(world: World, ticket: BootTicket, heartbeat: Heartbeat) -> None:
    """Keep a sign of life."""
    if heartbeat.boot_id == ticket.boot_id:
        await world.burn_ins.beat(heartbeat)


def _of(run: BurnInRun, ticket: BootTicket) -> bool:
    """The run was opened on this boot: attempts only grow, so an older run has a smaller one."""
    key = RunKey.parse(run.run)
    return key.generation == ticket.generation and key.attempt >= ticket.attempt


def _session(ticket: BootTicket) -> Secret:
    """Derived, so that it needs no table and survives a restart: nobody without the ticket's key can make one."""
    key = (ticket.key.reveal() + ticket.token.reveal()).encode()
    mark = hmac.new(key, f"session {ticket.boot_id}".encode(), sha256).hexdigest()
    return Secret(f"{ticket.node}:{mark}")


def _equal(one: Secret, other: Secret) -> bool:
    return hmac.compare_digest(one.reveal().encode(), other.reveal().encode())


def _item(item: BurnInItem, clock: Clock) -> PlanItem:
    parameters = {name: float(value) for name, value in item.parameters.items()}
    if "seconds" in parameters:
        parameters["seconds"] = max(_SHORTEST_LOAD_SECONDS, clock.work(timedelta(seconds=parameters["seconds"])))
    return PlanItem(item.id, item.kind, parameters, max(30.0, clock.wall(item.deadline)))
