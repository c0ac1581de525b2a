"""What people may do to a campaign. Pure; what cannot be is a `Conflict`."""

from collections.abc import Callable
from dataclasses import replace

from provisioner.errors import Conflict
from provisioner.models.campaign import Campaign, CampaignState

Action = Callable[[Campaign, str], Campaign]
"""The campaign after what this person did. Done twice, it is as done once."""


def pause(campaign: Campaign, who: str) -> Campaign:
    """Start nothing more. One that has stopped by itself stays as it is. Raises `Conflict` when it has ended."""
    _open(campaign, "paused")
    if campaign.state is not CampaignState.RUNNING:
        return campaign
    return replace(campaign, state=CampaignState.PAUSED, why=f"paused by {who}")


def resume(campaign: Campaign, _who: str) -> Campaign:
    """A person has looked: go on. Raises `Conflict` when it has ended."""
    _open(campaign, "resumed")
    if campaign.state is CampaignState.RUNNING:
        return campaign
    return replace(campaign, state=CampaignState.RUNNING, why="")


def abort(campaign: Campaign, who: str) -> Campaign:
    """Never start anything again; what runs goes on and is watched. Raises `Conflict` when it is done."""
    if campaign.state is CampaignState.ABORTED:
        return campaign
    _open(campaign, "aborted")
    return replace(campaign, state=CampaignState.ABORTED, why=f"aborted by {who}")


def _open(campaign: Campaign, what: str) -> None:
    if campaign.state in {CampaignState.DONE, CampaignState.ABORTED}:
        raise Conflict(f"{campaign.name} is {campaign.state}: it cannot be {what}; start another one")
