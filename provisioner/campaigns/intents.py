"""What a campaign does next, and what each of it changes in the campaign. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from provisioner.models.campaign import Campaign, CampaignState, Member, MemberState
from provisioner.models.identifiers import NodeName


@dataclass(frozen=True, slots=True)
class Begin:
    """The node's turn has come, or it is on its way already. Kept before anything is done to the node."""

    node: NodeName
    generation: int
    why: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Its turn had come, nothing was done to it, and now nothing may be."""

    node: NodeName
    why: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The node runs the release and is ready."""

    node: NodeName
    why: str


@dataclass(frozen=True, slots=True)
class Fail:
    """Something about the node that nobody has explained."""

    node: NodeName
    why: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Start nothing more until a person has looked."""

    why: str


@dataclass(frozen=True, slots=True)
class End:
    """Nothing is left to do or to watch."""

    why: str


@dataclass(frozen=True, slots=True)
class Move:
    """Give the node the release, if it still has this generation. Nothing of it is kept: the node itself shows it."""

    node: NodeName
    generation: int


Record = Begin | Withdraw | Finish | Fail | Stop | End
Intent = Record | Move


def apply(campaign: Campaign, records: Iterable[Record], now: datetime) -> Campaign:
    """The campaign after all of them, in order. It is kept in one piece or not at all."""
    for record in records:
        campaign = _applied(campaign, record, now)
    return campaign


def _applied(campaign: Campaign, record: Record, now: datetime) -> Campaign:
    match record:
        case Begin(node, generation, why):
            return _with(campaign, node, state=MemberState.MOVING, generation=generation, since=now, why=why)
        case Withdraw(node, why):
            return _with(campaign, node, state=MemberState.WAITING, generation=None, since=None, why=why)
        case Finish(node, why):
            return _with(campaign, node, state=MemberState.DONE, why=why)
        case Fail(node, why):
            return _with(campaign, node, state=MemberState.FAILED, why=why)
        case Stop(why):
            return replace(campaign, state=CampaignState.STOPPED, why=why)
        case End(why):
            return _ended(campaign, why, now)


def _with(campaign: Campaign, node: NodeName, **changes: object) -> Campaign:
    members = tuple(replace(one, **changes) if one.node == node else one for one in campaign.members)  # type: ignore[arg-type]  # mypy does not look into the keywords of replace
    return replace(campaign, members=members)


def _ended(campaign: Campaign, why: str, now: datetime) -> Campaign:
    state = campaign.state if campaign.state is CampaignState.ABORTED else CampaignState.DONE
    members = tuple(_left(one) for one in campaign.members)
    return replace(campaign, state=state, why=why, ended_at=now, members=members)


def _left(member: Member) -> Member:
    return replace(member, state=MemberState.LEFT_ALONE) if member.state is MemberState.WAITING else member
