"""What a campaign does now. Pure and level-triggered: it may be asked at any time, by every worker at once.

Waves and the stop at the first unexplained state follow what public guides to fleet updates ask for: one node first,
and a person before anything else after a surprise.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime

from provisioner.campaigns.intents import Begin, End, Fail, Finish, Intent, Move, Record, Stop, Withdraw, apply
from provisioner.campaigns.taking import on_its_way, reason_not_to_take
from provisioner.models.campaign import Campaign, CampaignState, Member, MemberState
from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.lifecycle import State
from provisioner.models.node import Node

_MAY_STOP = frozenset({CampaignState.RUNNING, CampaignState.PAUSED})
_AFTER_READY = frozenset({State.READY, State.IN_PRODUCTION, State.MAINTENANCE})
"""Somebody may have taken a ready node before we looked."""


def step(campaign: Campaign, nodes: Mapping[NodeName, Node], now: datetime) -> tuple[Intent, ...]:
    """Records, to be kept in one piece, or moves of what was kept before; never both, and nothing where nothing is due.

    `nodes`: those of the members, as they are now.
    """
    if campaign.ended_at is not None:
        return ()
    seen = tuple(_observed(campaign, nodes, now))
    failures = [one for one in seen if isinstance(one, Fail)]
    if failures and campaign.state in _MAY_STOP:
        return (*seen, Stop(f"{failures[0].node}: {failures[0].why}"))
    after = apply(campaign, seen, now)
    if after.state is CampaignState.RUNNING:
        seen += tuple(_begun(after, nodes))
    if not any(isinstance(one, Begin) for one in seen):
        seen += tuple(_ended(after, nodes))
    return seen or tuple(_moves(campaign, nodes))


def _observed(campaign: Campaign, nodes: Mapping[NodeName, Node], now: datetime) -> Iterator[Record]:
    for member in campaign.members:
        node = nodes.get(member.node)
        if member.state is MemberState.WAITING:
            yield from _waiting(campaign, member, node)
        elif member.state is MemberState.MOVING:
            yield from _moving(campaign, member, node, now)
        elif member.state is MemberState.FAILED and node is not None:
            yield from _failed(campaign, member, node)


def _waiting(campaign: Campaign, member: Member, node: Node | None) -> Iterator[Record]:
    """One that runs the release is done; one that somebody has given it to counts as one of ours."""
    if node is None or node.release != campaign.digest:
        return
    if node.state is State.READY:
        yield Finish(member.node, "runs it already")
    elif on_its_way(node):
        yield Begin(member.node, node.generation - 1, "is on its way to it already")


def _moving(campaign: Campaign, member: Member, node: Node | None, now: datetime) -> Iterator[Record]:
    if node is None:
        yield Fail(member.node, "it is no longer among the nodes")
    elif node.generation == member.generation:
        yield from _withdrawn(campaign, node)
    elif (trouble := _trouble(campaign, node)) is not None:
        yield Fail(member.node, trouble)
    elif not on_its_way(node):
        yield Finish(member.node, "is ready with it")
    elif member.since is not None and now - member.since > campaign.ready_within:
        minutes = campaign.ready_within.total_seconds() / 60
        yield Fail(member.node, f"not ready within {minutes:g} minutes: it is {_word(node.state)}")


def _trouble(campaign: Campaign, node: Node) -> str | None:
    """What nobody has explained about a node that was moved."""
    if node.release != campaign.digest:
        return "somebody has given it another release meanwhile"
    if node.hold is not None:
        return f"held: {node.hold.reason}"
    if node.failures:
        return f"a try of {_word(node.state)} has failed"
    if not on_its_way(node) and node.state not in _AFTER_READY:
        return f"it is {_word(node.state)}"
    return None


def _withdrawn(campaign: Campaign, node: Node) -> Iterator[Record]:
    """Nothing was done to it yet: back, unless that is about to happen."""
    reason = reason_not_to_take(node, campaign.hardware_class)
    if reason is not None:
        yield Withdraw(node.name, reason)
    elif campaign.state is not CampaignState.RUNNING:
        yield Withdraw(node.name, f"the campaign is {campaign.state}")


def _failed(campaign: Campaign, member: Member, node: Node) -> Iterator[Record]:
    """What came to ready after all is done; what a person let go on is watched again, once the campaign goes on too."""
    if node.release != campaign.digest or node.hold is not None:
        return
    if node.state is State.READY:
        yield Finish(member.node, "is ready with it after all")
    elif campaign.state is CampaignState.RUNNING and on_its_way(node) and not node.failures:
        yield Begin(member.node, node.generation - 1, "goes on")


def _begun(campaign: Campaign, nodes: Mapping[NodeName, Node]) -> Iterator[Begin]:
    """Canaries alone until enough of them are ready again, then as many as the limits let."""
    busy = Counter(_busy_racks(campaign, nodes))
    limits = campaign.limits
    room = limits.per_site - busy.total()
    unproven = limits.canaries - sum(one.proven for one in campaign.members)
    if unproven > 0:
        room = min(room, unproven - busy.total())
    for member in campaign.those(MemberState.WAITING):
        if room <= 0:
            return
        node = nodes.get(member.node)
        if node is None or reason_not_to_take(node, campaign.hardware_class) or busy[member.rack] >= limits.per_rack:
            continue
        busy[member.rack] += 1
        room -= 1
        yield Begin(member.node, node.generation, "canary" if unproven > 0 else "its turn has come")


def _busy_racks(campaign: Campaign, nodes: Mapping[NodeName, Node]) -> Iterator[RackName]:
    """The rack of each member that moves, or that failed and goes on all the same."""
    for member in campaign.members:
        node = nodes.get(member.node)
        failed_yet_busy = member.state is MemberState.FAILED and node is not None and on_its_way(node)
        if member.state is MemberState.MOVING or failed_yet_busy:
            yield member.rack


def _ended(campaign: Campaign, nodes: Mapping[NodeName, Node]) -> Iterator[Record]:
    """When nothing is on its way and nothing can be started. What waits is left alone, and why is kept with it."""
    if campaign.state in {CampaignState.PAUSED, CampaignState.STOPPED} or any(_busy_racks(campaign, nodes)):
        return
    waiting = [(one, nodes.get(one.node)) for one in campaign.those(MemberState.WAITING)]
    if campaign.state is CampaignState.ABORTED:
        yield from (Withdraw(one.node, "the campaign was aborted before its turn") for one, _ in waiting)
        yield End(campaign.why)
        return
    reasons = {one.node: _left_because(campaign, node) for one, node in waiting}
    if all(reasons.values()):
        yield from (Withdraw(node, reason or "") for node, reason in reasons.items())
        failed = sum(1 for _ in campaign.those(MemberState.FAILED))
        yield End(f"{failed} failed, {len(waiting)} left alone" if failed or waiting else "")


def _left_because(campaign: Campaign, node: Node | None) -> str | None:
    return "it is no longer among the nodes" if node is None else reason_not_to_take(node, campaign.hardware_class)


def _moves(campaign: Campaign, nodes: Mapping[NodeName, Node]) -> Iterator[Move]:
    """What was kept as begun and has not reached the node."""
    if campaign.state is not CampaignState.RUNNING:
        return
    for member in campaign.those(MemberState.MOVING):
        node = nodes.get(member.node)
        if node is not None and member.generation == node.generation:
            yield Move(member.node, node.generation)


def _word(state: State) -> str:
    return state.value.replace("_", " ")
