"""One campaign, step by step: canary first, limits, the stop at the first unexplained state, and its end."""

from dataclasses import replace
from datetime import timedelta

import pytest

from provisioner.campaigns.intents import Begin, End, Fail, Move, Stop, Withdraw, apply
from provisioner.campaigns.people import abort, pause, resume
from provisioner.campaigns.step import step
from provisioner.errors import Conflict
from provisioner.models.campaign import Campaign, CampaignLimits, CampaignState, MemberState
from provisioner.models.identifiers import NodeName
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from tests.campaigns.samples import (
    HARDWARE,
    NEW,
    NOW,
    OLD,
    campaign_of,
    changed,
    held,
    moved,
    name_of,
    names,
    ready_nodes,
)

A, B, C = (name_of(1, position) for position in (1, 2, 3))
Nodes = dict[NodeName, Node]


def carried_out(campaign: Campaign, nodes: Nodes, hours: float = 0) -> tuple[Campaign, Nodes]:
    """Everything that the campaign does until nothing is due."""
    now = NOW + timedelta(hours=hours)
    while intents := step(campaign, nodes, now):
        moves = [one for one in intents if isinstance(one, Move)]
        nodes = changed(nodes, *(moved(nodes[one.node]) for one in moves))
        campaign = apply(campaign, (one for one in intents if not isinstance(one, Move)), now)
    return campaign, nodes


def states(campaign: Campaign) -> list[str]:
    return [one.state.value for one in campaign.members]


def test_the_canary_is_alone_until_it_is_ready_again() -> None:
    nodes = ready_nodes(1, 3)
    campaign = campaign_of(nodes, limits=CampaignLimits(per_rack=3, per_site=3))
    assert step(campaign, nodes, NOW) == (Begin(A, 1, "canary"),)
    campaign, nodes = carried_out(campaign, nodes)
    assert states(campaign) == ["moving", "waiting", "waiting"]
    assert (nodes[A].state, nodes[B].state) == (State.INVENTORIED, State.READY)
    campaign, nodes = carried_out(campaign, changed(nodes, replace(nodes[A], state=State.BURNING_IN)))
    assert states(campaign) == ["moving", "waiting", "waiting"]
    campaign, nodes = carried_out(campaign, changed(nodes, replace(nodes[A], state=State.READY)))
    assert states(campaign) == ["done", "moving", "moving"]


def test_a_canary_that_failed_is_followed_by_another_one() -> None:
    """A person looked and resumed: the node stays held, and nothing has been proven yet."""
    nodes = ready_nodes(1, 3)
    campaign, nodes = carried_out(campaign_of(nodes, limits=CampaignLimits(per_rack=3, per_site=3)), nodes)
    campaign, nodes = carried_out(campaign, changed(nodes, held(nodes[A])))
    assert (campaign.state, campaign.why) == (CampaignState.STOPPED, f"{A}: held: its boot failed")
    assert states(campaign) == ["failed", "waiting", "waiting"]
    campaign, nodes = carried_out(resume(campaign, "ann"), nodes)
    assert states(campaign) == ["failed", "moving", "waiting"]


def test_no_canaries_where_none_are_wanted_and_more_where_more_are() -> None:
    nodes = ready_nodes(2, 4)
    both = CampaignLimits(per_rack=4, per_site=8, canaries=2)
    campaign, _ = carried_out(campaign_of(nodes, limits=both), nodes)
    assert states(campaign).count("moving") == 2
    campaign, _ = carried_out(campaign_of(nodes, limits=replace(both, canaries=0)), nodes)
    assert states(campaign).count("moving") == 8


def test_limits_per_rack_and_site() -> None:
    nodes = ready_nodes(3, 4)
    campaign, _ = carried_out(campaign_of(nodes, limits=CampaignLimits(per_rack=2, per_site=5, canaries=0)), nodes)
    moving = [one.rack for one in campaign.those(MemberState.MOVING)]
    assert moving == ["r01", "r01", "r02", "r02", "r03"]


@pytest.mark.parametrize(
    ("node", "why"),
    [
        ({"state": State.IN_PRODUCTION}, "in production"),
        ({"state": State.MAINTENANCE}, "maintenance"),
        ({"state": State.BOOTING}, "busy: booting the image from the network"),
        ({"state": State.DECOMMISSIONED}, "decommissioned"),
        ({"hardware_class": "other"}, "its hardware class is other"),
    ],
)
def test_who_is_used_busy_or_other_is_left_alone_and_said_to_be(node: dict[str, object], why: str) -> None:
    nodes = ready_nodes(1, 2)
    nodes = changed(nodes, replace(nodes[B], **node))  # type: ignore[arg-type]  # each case has right types
    campaign, nodes = carried_out(campaign_of(nodes), nodes)
    campaign, nodes = carried_out(campaign, changed(nodes, replace(nodes[A], state=State.READY)))
    assert (campaign.state, campaign.why) == (CampaignState.DONE, "0 failed, 1 left alone")
    assert [(one.state, one.why) for one in campaign.members] == [
        (MemberState.DONE, "is ready with it"),
        (MemberState.LEFT_ALONE, why),
    ]


def test_a_held_node_stays_held() -> None:
    nodes = ready_nodes(1, 1)
    nodes = changed(nodes, held(nodes[A], "no power"))
    campaign, after = carried_out(campaign_of(nodes), nodes)
    assert (campaign.members[0].state, campaign.members[0].why) == (MemberState.LEFT_ALONE, "held: no power")
    assert after == nodes


def test_who_runs_it_already_is_done_and_proves_nothing() -> None:
    nodes = ready_nodes(1, 3)
    nodes = changed(nodes, replace(nodes[A], release=NEW))
    campaign, _ = carried_out(campaign_of(nodes, limits=CampaignLimits(per_rack=3)), nodes)
    assert states(campaign) == ["done", "moving", "waiting"]


def test_who_is_on_its_way_to_the_release_by_a_persons_hand_counts() -> None:
    nodes = ready_nodes(1, 3)
    nodes = changed(nodes, moved(nodes[C]))
    campaign, _ = carried_out(campaign_of(nodes, limits=CampaignLimits(per_rack=3)), nodes)
    assert states(campaign) == ["waiting", "waiting", "moving"]


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ({"failures": 1, "state": State.UPDATING_FIRMWARE}, "a try of updating firmware has failed"),
        ({"release": OLD, "generation": 7}, "somebody has given it another release meanwhile"),
        ({"state": State.DECOMMISSIONING}, "it is decommissioning"),
    ],
)
def test_whatever_nobody_has_explained_stops_it(seen: dict[str, object], told: str) -> None:
    nodes = ready_nodes(1, 3)
    campaign, nodes = carried_out(campaign_of(nodes, limits=CampaignLimits(canaries=0)), nodes)
    nodes = changed(nodes, replace(nodes[A], **seen))  # type: ignore[arg-type]  # each case has right types
    assert step(campaign, nodes, NOW) == (Fail(A, told), Stop(f"{A}: {told}"))
    campaign, nodes = carried_out(campaign, nodes)
    assert states(campaign) == ["failed", "moving", "waiting"]
    ready = changed(nodes, replace(nodes[B], state=State.READY))
    campaign, nodes = carried_out(campaign, ready)
    assert states(campaign) == ["failed", "done", "waiting"]
    assert campaign.ended_at is None


def test_too_slow_is_unexplained_too() -> None:
    nodes = ready_nodes(1, 1)
    campaign, nodes = carried_out(campaign_of(nodes), nodes)
    nodes = changed(nodes, replace(nodes[A], state=State.BURNING_IN))
    assert step(campaign, nodes, NOW + timedelta(hours=4)) == ()
    late = step(campaign, nodes, NOW + timedelta(hours=4, seconds=1))
    assert late[0] == Fail(A, "not ready within 240 minutes: it is burning in")


def test_a_failed_node_that_goes_on_is_watched_again_after_the_resume() -> None:
    """It holds its place meanwhile, and what happens to it next is unexplained again."""
    nodes = ready_nodes(1, 2)
    campaign, nodes = carried_out(campaign_of(nodes, limits=CampaignLimits(per_rack=1, canaries=0)), nodes)
    tried = replace(nodes[A], failures=1, state=State.BOOTING)
    campaign, nodes = carried_out(campaign, changed(nodes, tried))
    campaign, nodes = carried_out(resume(campaign, "ann"), nodes)
    assert states(campaign) == ["failed", "waiting"]
    campaign, nodes = carried_out(campaign, changed(nodes, replace(tried, failures=0, state=State.BURNING_IN)))
    assert states(campaign) == ["moving", "waiting"]
    campaign, nodes = carried_out(campaign, changed(nodes, held(nodes[A])))
    assert (campaign.state, states(campaign)) == (CampaignState.STOPPED, ["failed", "waiting"])


def test_a_failed_node_that_gets_ready_is_done_while_the_campaign_is_stopped() -> None:
    nodes = ready_nodes(1, 2)
    campaign, nodes = carried_out(campaign_of(nodes), nodes)
    campaign, nodes = carried_out(campaign, changed(nodes, held(nodes[A])))
    campaign, _ = carried_out(campaign, changed(nodes, replace(nodes[A], state=State.READY, hold=None)))
    assert (campaign.state, states(campaign)) == (CampaignState.STOPPED, ["done", "waiting"])


def test_a_pause_withdraws_what_has_not_reached_its_node() -> None:
    nodes = ready_nodes(1, 2)
    begun = apply(campaign_of(nodes), [Begin(A, 1, "canary")], NOW)
    assert step(begun, nodes, NOW) == (Move(A, 1),)
    paused = pause(begun, "ann")
    assert step(paused, nodes, NOW) == (Withdraw(A, "the campaign is paused"),)
    campaign, after = carried_out(paused, nodes)
    assert (states(campaign), after, campaign.why) == (["waiting", "waiting"], nodes, "paused by ann")
    campaign, _ = carried_out(resume(campaign, "ann"), nodes)
    assert (states(campaign), campaign.why) == (["moving", "waiting"], "")


def test_a_node_that_somebody_takes_in_the_last_moment_is_let_go() -> None:
    nodes = ready_nodes(1, 2)
    begun = apply(campaign_of(nodes), [Begin(A, 1, "canary")], NOW)
    used = changed(nodes, replace(nodes[A], state=State.IN_PRODUCTION))
    assert names(step(begun, used, NOW)) == [f"Withdraw {A}", f"Begin {B}"]


def test_aborted_it_watches_what_runs_and_then_ends() -> None:
    nodes = ready_nodes(1, 3)
    campaign, nodes = carried_out(campaign_of(nodes, limits=CampaignLimits(canaries=0)), nodes)
    campaign, nodes = carried_out(abort(campaign, "ann"), nodes)
    assert (states(campaign), campaign.ended_at) == (["moving", "moving", "waiting"], None)
    campaign, nodes = carried_out(campaign, changed(nodes, replace(nodes[A], state=State.READY), held(nodes[B])))
    assert states(campaign) == ["done", "failed", "left_alone"]
    assert campaign.members[2].why == "the campaign was aborted before its turn"
    assert (campaign.state, campaign.why, campaign.ended_at) == (CampaignState.ABORTED, "aborted by ann", NOW)
    assert step(campaign, nodes, NOW) == ()


def test_it_ends_when_all_are_done() -> None:
    nodes = ready_nodes(1, 1)
    campaign, nodes = carried_out(campaign_of(nodes), nodes)
    nodes = changed(nodes, replace(nodes[A], state=State.READY))
    assert names(step(campaign, nodes, NOW)) == [f"Finish {A}", "End"]
    campaign, nodes = carried_out(campaign, nodes)
    assert (campaign.state, campaign.why, campaign.ended_at) == (CampaignState.DONE, "", NOW)


def test_what_people_do_twice_is_as_done_once_and_the_end_is_the_end() -> None:
    nodes = ready_nodes(1, 1)
    running = campaign_of(nodes)
    for action in (pause, resume, abort):
        once = action(running, "ann")
        assert action(once, "ben") == once
    stopped = apply(running, [Stop("odd")], NOW)
    assert pause(stopped, "ann") == stopped
    ended = apply(running, [End("")], NOW)
    for action in (pause, resume, abort):
        with pytest.raises(Conflict, match="spring is done"):
            action(ended, "ann")
    for action in (pause, resume):
        with pytest.raises(Conflict, match="spring is aborted"):
            action(abort(running, "ann"), "ann")


def test_another_class_is_never_moved() -> None:
    nodes = ready_nodes(1, 1, hardware_class="other")
    campaign, after = carried_out(campaign_of(nodes), nodes)
    assert (campaign.hardware_class, after) == (HARDWARE, nodes)
    assert states(campaign) == ["left_alone"]
