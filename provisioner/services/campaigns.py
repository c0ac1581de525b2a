"""What people may ask about campaigns and do to them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from profiles.release import Release
from provisioner.campaigns.people import Action
from provisioner.capabilities.campaigns import Campaigns
from provisioner.capabilities.world import World
from provisioner.errors import BadInput, Conflict, NotFound
from provisioner.lifecycle.table import RULES
from provisioner.models.audit import AuditEntry
from provisioner.models.campaign import Campaign, CampaignLimits, Member
from provisioner.models.identifiers import NodeName, RackName, ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.node import Node

_TRIES = 10
"""Workers and people change a campaign at once; each of them looks again."""

_SLACK = 2.0
"""Waiting for a place in the rack, self-tests that take long, tries of single requests."""

_LIFECYCLE = (State.INVENTORIED, State.CONFIGURING_BIOS, State.BOOTING)


@dataclass(frozen=True, slots=True)
class Order:
    """What a person wants. No racks and no nodes: all of the release's hardware class."""

    name: str
    release: str
    hardware_class: str | None = None
    racks: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    limits: CampaignLimits = field(default_factory=CampaignLimits)
    ready_within: timedelta | None = None
    """Real time; None: twice what the release's own figures add up to."""


async def start(world: World, campaigns: Campaigns, order: Order, who: str, *, request: str = "") -> Campaign:
    """Begin it. Asked again with the same order, it is the campaign that is there.

    Raises `NotFound` for a release or node that is none, `Conflict` with why it cannot be.
    """
    try:
        release = await asyncio.to_thread(world.releases.named, order.release)
    except BadInput as error:
        raise Conflict(str(error)) from error
    members = _members(order, release, await world.nodes.all())
    campaign = Campaign(
        name=order.name,
        release=release.name,
        digest=ReleaseDigest(release.digest),
        hardware_class=release.hardware_class.name,
        limits=order.limits,
        ready_within=order.ready_within or _ready_within(world, release),
        who=who,
        started_at=world.clock.now(),
        members=members,
    )
    await world.documents.put_release(release)
    now = campaign.started_at
    audit = AuditEntry(now, who, "campaign.start", campaign.name, after=campaign.digest, request=request)
    if not await campaigns.add(campaign, audit=audit):
        _same(await campaigns.get(order.name), campaign)
    return await campaigns.get(order.name)


def _members(order: Order, release: Release, nodes: Sequence[Node]) -> tuple[Member, ...]:
    hardware = release.hardware_class.name
    if order.hardware_class not in {None, hardware}:
        raise Conflict(f"{release.name} is for {hardware}, not for {order.hardware_class}")
    known = {node.name: node for node in nodes}
    for name in order.nodes:
        node = known.get(NodeName(name))
        if node is None:
            raise NotFound(f"no node is called {name}")
        if node.hardware_class != hardware:
            raise Conflict(f"{release.name} is for {hardware}, and {name} is {node.hardware_class or 'not known yet'}")
    pool = [node for node in nodes if node.hardware_class == hardware]
    for rack in order.racks:
        if not any(node.rack == rack for node in pool):
            raise Conflict(f"rack {rack} has no node of {hardware}")
    chosen = [node for node in pool if _is_wanted(order, node)]
    if not chosen:
        raise Conflict(f"there is no node of {hardware} to bring to {release.name}")
    return tuple(Member(node.name, RackName(node.rack)) for node in chosen)


def _is_wanted(order: Order, node: Node) -> bool:
    if not order.racks and not order.nodes:
        return True
    return node.rack in order.racks or node.name in order.nodes


async def change(
    world: World, campaigns: Campaigns, name: str, action: Action, who: str, *, request: str = ""
) -> Campaign:
    """What a person does to it: `pause`, `resume` or `abort`. Raises `NotFound`, `Conflict`."""
    for _ in range(_TRIES):
        seen = await campaigns.get(name)
        now = action(seen, who)
        if now == seen:
            return seen
        told = [now.why or f"resumed by {who}"]
        at = world.clock.now()
        audit = AuditEntry(at, who, f"campaign.{action.__name__}", name, request=request)
        if await campaigns.keep(seen, now, at, told=told, nodes={}, audit=audit):
            return await campaigns.get(name)
    raise Conflict(f"{name} changes all the time: try again")


def _same(there: Campaign, asked: Campaign) -> None:
    """Refuse another order under a name that is taken."""
    pairs = (
        ("release", there.digest, asked.digest),
        ("nodes", [one.node for one in there.members], [one.node for one in asked.members]),
        ("limits", there.limits, asked.limits),
        ("ready_within", there.ready_within, asked.ready_within),
    )
    other = [name for name, one, another in pairs if one != another]
    if other:
        raise Conflict(
            f"there is a campaign {there.name} already, with other {' and '.join(other)}: choose another name"
        )


def _ready_within(world: World, release: Release) -> timedelta:
    """From a node's turn to ready, with slack; as on real hardware where the site's time takes no time."""
    firmware = timedelta(
        minutes=sum(
            float(one.expected_minutes) + float(one.activation_minutes or 0) for one in release.firmware.components
        )
    )
    lifecycle = sum((RULES[state].expected or timedelta() for state in _LIFECYCLE), timedelta())
    burn_in = sum((item.deadline for item in release.burn_in.items), timedelta())
    emulated = _SLACK * (firmware + lifecycle + burn_in)
    return timedelta(seconds=round(world.clock.work(emulated))) or emulated
