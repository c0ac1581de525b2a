"""How a campaign goes on: what its pure step says is kept first, and done to nodes afterwards."""

import asyncio
from collections.abc import Mapping, Sequence

from provisioner.campaigns.intents import End, Fail, Finish, Move, Record, Stop, apply
from provisioner.campaigns.step import step
from provisioner.campaigns.taking import reason_not_to_take
from provisioner.capabilities.campaigns import Campaigns
from provisioner.capabilities.world import World
from provisioner.errors import BadInput, Conflict, NotFound
from provisioner.models.campaign import Campaign
from provisioner.models.identifiers import NodeName
from provisioner.models.node import Node


async def go_on(world: World, campaigns: Campaigns, name: str) -> bool:
    """One step of one campaign; True when there may be more to do at once.

    Anybody may call it at any time, and be killed in the middle: records are kept in one piece if nobody else has
    changed the campaign, and a node is moved only from the state that was seen.
    """
    campaign = await campaigns.get(name)
    nodes = {node.name: node for node in await world.nodes.all()}
    intents = step(campaign, nodes, world.clock.now())
    records = [one for one in intents if not isinstance(one, Move)]
    if records:
        await _keep(world, campaigns, campaign, records)
        return True
    moves = [one for one in intents if isinstance(one, Move)]
    if moves and (trouble := await _other_release(world, campaign)):
        await _keep(world, campaigns, campaign, [Stop(trouble)])
        return True
    for move in moves:
        await _move(world, campaigns, campaign, nodes[move.node])
    return False


async def _keep(world: World, campaigns: Campaigns, campaign: Campaign, records: Sequence[Record]) -> None:
    now = world.clock.now()
    told = [_line(one) for one in records if isinstance(one, Stop | End)]
    after = apply(campaign, records, now)
    await campaigns.keep(campaign, after, now, told=told, nodes=_node_lines(campaign, records))


def _line(record: Stop | End) -> str:
    if isinstance(record, Stop):
        return f"stopped by itself: {record.why}"
    return f"ended: {record.why}" if record.why else "ended"


def _node_lines(campaign: Campaign, records: Sequence[Record]) -> Mapping[NodeName, str]:
    named = {True: "unexplained: ", False: ""}
    return {
        one.node: f"campaign {campaign.name}: {named[isinstance(one, Fail)]}{one.why}"
        for one in records
        if isinstance(one, Fail | Finish)
    }


async def _other_release(world: World, campaign: Campaign) -> str | None:
    """Why nothing may be moved: the release's name means something else by now, or nothing.

    It also puts the release's packages into the store of this worker.
    """
    try:
        release = await asyncio.to_thread(world.releases.named, campaign.release)
    except (BadInput, NotFound) as error:
        return str(error)
    if release.digest != campaign.digest:
        return (
            f"{campaign.release} is {release.digest[:19]} now, and was {campaign.digest[:19]}: start another campaign"
        )
    return None


async def _move(world: World, campaigns: Campaigns, campaign: Campaign, node: Node) -> None:
    """Give it the release, as `firstlight node reimage` does, if campaign and node still are as they were seen."""
    if reason_not_to_take(node, campaign.hardware_class):
        return
    if not await campaigns.may_move(campaign.name, node.name, node.generation):
        return
    reason = f"campaign {campaign.name} gives it release {campaign.release} ({campaign.digest[:19]})"
    try:
        await world.nodes.desire(node.name, campaign.digest, reason, world.clock.now(), seen=node)
    except Conflict:
        return  # somebody was faster: the next step sees what it is now
