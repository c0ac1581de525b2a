"""A campaign among people, faults, crashes and several workers, in any order."""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from provisioner.campaigns.intents import Intent, Move, Record, apply
from provisioner.campaigns.people import abort, pause, resume
from provisioner.campaigns.step import step
from provisioner.campaigns.taking import on_its_way
from provisioner.errors import Conflict
from provisioner.models.campaign import Campaign, CampaignLimits, CampaignState, MemberState
from provisioner.models.identifiers import NodeName
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from tests.campaigns.samples import NEW, NOW, campaign_of, held, moved, ready_nodes

NAMES = list(ready_nodes(2, 3))
one_of_them = st.sampled_from(NAMES)


@dataclass(frozen=True)
class Seen:
    """What a worker saw, and what it means to do about it."""

    campaign: Campaign
    nodes: dict[NodeName, Node]
    intents: tuple[Intent, ...]


class AnyOrder(RuleBasedStateMachine):
    """Two workers that may stop for ever at any moment, on one database; people; nodes that work or do not."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes = ready_nodes(2, 3)
        self.campaign = campaign_of(self.nodes)
        self.now = NOW
        self.workers: dict[int, Seen] = {}
        self.moves: Counter[tuple[NodeName, int]] = Counter()

    @initialize(
        per_rack=st.integers(1, 2),
        per_site=st.integers(1, 4),
        canaries=st.integers(0, 2),
        taken=st.sets(one_of_them, max_size=2),
    )
    def begin(self, per_rack: int, per_site: int, canaries: int, taken: set[NodeName]) -> None:
        self.campaign = replace(self.campaign, limits=CampaignLimits(per_rack, per_site, canaries))
        for name in taken:
            self.nodes[name] = replace(self.nodes[name], state=State.IN_PRODUCTION)

    @rule(worker=st.integers(0, 1))
    def look(self, worker: int) -> None:
        """Whatever it was about to do before is lost."""
        self.workers[worker] = Seen(self.campaign, dict(self.nodes), step(self.campaign, self.nodes, self.now))

    @rule(times=st.integers(1, 4))
    def a_worker_is_not_disturbed(self, times: int) -> None:
        for _ in range(times):
            self.look(1)
            self.act(1, 6)

    @precondition(lambda self: self.workers)
    @rule(worker=st.integers(0, 1), until=st.integers(0, 6))
    def act(self, worker: int, until: int) -> None:
        """On what it saw, however old that is; it may die in the middle."""
        seen = self.workers.pop(worker, None)
        if seen is None:
            return
        records = [one for one in seen.intents if not isinstance(one, Move)]
        if records and seen.campaign.revision == self.campaign.revision:
            self._keep(records)
        for move in [one for one in seen.intents if isinstance(one, Move)][:until]:
            self._move(move, seen)

    def _keep(self, records: list[Record]) -> None:
        after = apply(self.campaign, records, self.now)
        self.campaign = replace(after, revision=self.campaign.revision + 1)

    def _move(self, move: Move, seen: Seen) -> None:
        """The fence of the store: the node as it was seen; and the campaign is asked once more."""
        node = self.nodes[move.node]
        member = next(one for one in self.campaign.members if one.node == move.node)
        wanted = (member.state, member.generation) == (MemberState.MOVING, node.generation)
        if self.campaign.state is CampaignState.RUNNING and wanted and seen.nodes[move.node] == node:
            assert (node.state, node.hold) == (State.READY, None), "nothing else may be moved"
            self.nodes[move.node] = moved(node)
            self.moves[move.node, move.generation] += 1

    @rule(hours=st.integers(0, 1))
    def time_passes(self, hours: int) -> None:
        self.now += timedelta(hours=hours)

    @rule(name=one_of_them, to=st.sampled_from([State.UPDATING_FIRMWARE, State.BURNING_IN, State.READY]))
    def node_goes_on(self, name: NodeName, to: State) -> None:
        if on_its_way(self.nodes[name]):
            self.nodes[name] = replace(self.nodes[name], state=to, failures=0)

    @rule(name=one_of_them)
    def a_try_fails(self, name: NodeName) -> None:
        if on_its_way(self.nodes[name]):
            self.nodes[name] = replace(self.nodes[name], failures=self.nodes[name].failures + 1)

    @rule(name=one_of_them)
    def a_node_is_held(self, name: NodeName) -> None:
        if self.nodes[name].hold is None and self.nodes[name].state is not State.IN_PRODUCTION:
            self.nodes[name] = held(self.nodes[name])

    @rule(name=one_of_them)
    def a_node_is_let_go(self, name: NodeName) -> None:
        node = self.nodes[name]
        if node.held_from is not None:
            back = replace(node, state=node.held_from, hold=None, held_from=None)
            self.nodes[name] = replace(back, attempt=node.attempt + 1, failures=0)

    @rule(name=one_of_them)
    def somebody_takes_a_node(self, name: NodeName) -> None:
        if self.nodes[name].state is State.READY:
            self.nodes[name] = replace(self.nodes[name], state=State.IN_PRODUCTION)

    @rule(action=st.sampled_from([pause, resume, resume, abort]), really=st.integers(0, 3))
    def a_person_acts(self, action: object, really: int) -> None:
        """Not often an abort: it ends the story."""
        if action is abort and really:
            return
        try:
            after = action(self.campaign, "ann")  # type: ignore[operator]  # one of the three
        except Conflict:
            return
        self.campaign = replace(after, revision=self.campaign.revision + 1)

    def _ours(self) -> list[Node]:
        return [one for one in self.nodes.values() if one.release == NEW and on_its_way(one)]

    @invariant()
    def never_more_than_the_limits(self) -> None:
        """But for those that were held, and that a person lets go: that is the person's doing."""
        known = {one.node: one for one in self.campaign.members}
        ours = [one for one in self._ours() if known[one.name].state is MemberState.MOVING and one.attempt == 1]
        assert len(ours) <= self.campaign.limits.per_site
        assert all(count <= self.campaign.limits.per_rack for count in Counter(one.rack for one in ours).values())

    @invariant()
    def nothing_before_the_canaries(self) -> None:
        proven = sum(one.proven for one in self.campaign.members)
        touched = {name for name, _ in self.moves}
        troubled = {one.node for one in self.campaign.those(MemberState.FAILED)}
        again = {one.name for one in self.nodes.values() if one.attempt > 1}
        if proven < self.campaign.limits.canaries:
            assert len(touched - troubled - again) <= self.campaign.limits.canaries

    @invariant()
    def each_node_is_moved_once(self) -> None:
        assert all(count == 1 for count in self.moves.values())
        assert len({name for name, _ in self.moves}) == len(self.moves)

    @invariant()
    def only_a_running_campaign_has_work_to_start(self) -> None:
        if self.campaign.state is not CampaignState.RUNNING:
            assert not [one for one in step(self.campaign, self.nodes, self.now) if isinstance(one, Move)]

    @invariant()
    def who_asks_twice_gets_the_same(self) -> None:
        assert step(self.campaign, self.nodes, self.now) == step(self.campaign, self.nodes, self.now)

    def teardown(self) -> None:
        """Once nodes work and people let it go on, it ends, and every node has its place."""
        for _ in range(200):
            if self.campaign.ended_at is not None:
                break
            self.workers.clear()
            if self.campaign.state in {CampaignState.PAUSED, CampaignState.STOPPED}:
                self.campaign = resume(self.campaign, "ann")
            self.look(0)
            self.act(0, 6)
            for name in NAMES:
                self.node_goes_on(name, State.READY)
        assert self.campaign.ended_at is not None, self.campaign
        assert {one.state for one in self.campaign.members} <= {
            MemberState.DONE,
            MemberState.FAILED,
            MemberState.LEFT_ALONE,
        }
        super().teardown()


AnyOrder.TestCase.settings = settings(max_examples=300, stateful_step_count=50, deadline=None)
TestAnyOrder = AnyOrder.TestCase
