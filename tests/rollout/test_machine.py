"""Invariants I1 to I20 of rollouts, whatever happens in whichever order: crashes, two controllers, people, faults."""

from dataclasses import replace

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from provisioner.errors import Conflict
from provisioner.models.identifiers import NodeName
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.people import abort, decide, pause, resume, send_back
from provisioner.rollout.pins import pinned
from provisioner.rollout.spec import Floor, ReturnScope
from provisioner.rollout.state import (
    AT_REST,
    GateKey,
    Heading,
    PausedBy,
    Rollout,
    UnitState,
    Verdict,
    WaveState,
)
from provisioner.rollout.step import step
from provisioner.rollout.unit import UnitName
from tests.rollout.site import ENDED, NEW, SPEC, Controller, check_counts, running, units_of

UNITS = units_of(6, 2, leafs=4) + units_of(5, 1, leafs=3, kind="gb200", prefix="v")
NODES = sorted(node for unit in UNITS for node in unit.nodes)
PERSON = "bob"
READY = frozenset({UnitState.READY, UnitState.UNCORDONED, UnitState.ON_NEW})
nodes = st.sampled_from(NODES)


def state_of(rollout: Rollout, name: UnitName) -> UnitState:
    task = rollout.tasks.get(name)
    return task.state if task else UnitState.ON_OLD


class RolloutMachine(RuleBasedStateMachine):
    """One site, one rollout, and everything that may go wrong."""

    @initialize(
        percent=st.sampled_from([40, 60]),
        scope=st.sampled_from(ReturnScope),
        firmware=st.sampled_from([None, "fw2"]),
        auto_return=st.booleans(),
        short=st.integers(0, 1),
    )
    def begin(self, percent: int, scope: ReturnScope, firmware: str | None, auto_return: bool, short: int) -> None:
        spec = replace(SPEC, floor=Floor(percent=percent), return_scope=scope, to_firmware=firmware)
        self.control: Controller = running(UNITS, replace(spec, auto_return=auto_return, may_run_short=short))
        self.stale = self.control.kept
        self.people: dict[NodeName, bool] = {}
        self.trips: dict[UnitName, int] = {}

    def stepped(self, minutes: float = 1, deliver: int | None = None) -> None:
        before = self.control.kept
        self.check_step(before, self.control.step(minutes, deliver=deliver))

    def check_step(self, before: Rollout, intents: tuple[Intent, ...]) -> None:
        after = self.control.kept
        check_counts(after)
        taken = [name for name in after.tasks if state_of(before, name) in AT_REST and name in after.tallies.in_hand]
        decided = any(not decision.used for decision in before.decisions.values())
        paused = before.paused_by is PausedBy.PERSON or (before.paused_by is PausedBy.GATE and not decided)
        for name in taken:
            assert not paused, "I12"
            free = after.tallies.up[name] == 0
            assert free or self.room(after, name) >= 0, "I1, I2"
        for name in after.tasks:
            self.check_task(before, name)
        assert [wave.state is WaveState.PENDING for wave in after.waves] == sorted(
            wave.state is WaveState.PENDING for wave in after.waves
        ), "I6: waves in order"
        assert len({intent.key for intent in intents}) == len(intents), "I18"

    def check_task(self, before: Rollout, name: UnitName) -> None:
        after = self.control.kept
        was, now = state_of(before, name), state_of(after, name)
        task = after.tasks[name]
        if was is now or task.heading is not Heading.TO_NEW or now not in READY:
            return
        kept = [node for node in after.plan.units[name].nodes if node in after.facts and node not in task.quarantined]
        assert all(after.facts[node].digest == NEW for node in kept), "I10"
        if now is UnitState.ON_NEW:
            self.trips[name] = self.trips.get(name, 0) + 1
            assert self.trips[name] == 1 or task.returned, "I6"

    def room(self, rollout: Rollout, name: UnitName) -> int:
        hardware_class = rollout.plan.units[name].hardware_class
        total = rollout.tallies.nodes[hardware_class]
        floor = total - rollout.plan.spec.floor.may_be_out(total)
        return rollout.tallies.in_service[hardware_class] - floor

    @rule(minutes=st.sampled_from([0, 1, 3, 10]), times=st.integers(1, 8))
    def goes_on(self, minutes: int, times: int) -> None:
        for _ in range(times):
            self.stepped(minutes)

    @rule(delivered=st.integers(0, 3))
    def dies_while_acting(self, delivered: int) -> None:
        self.stepped(deliver=delivered)
        self.stale = self.control.kept
        self.control.restart()

    @rule()
    def dies_before_keeping(self) -> None:
        self.stale = self.control.kept
        self.control.step_and_die_before_keeping()

    @rule()
    def another_controller_wakes_up(self) -> None:
        """I9: what an older epoch asks for is refused by everything that acts, once the newer one has acted."""
        if self.stale.epoch >= self.control.site.epoch:
            return
        site = self.control.site
        before, refused = dict(site.nodes), site.refused
        _, intents = step(self.stale, site.seen_whole(), self.control.now)
        for intent in intents:
            site.do(intent)
        site.changed = set(site.nodes)
        assert site.nodes == before
        assert site.refused == refused + len(intents)

    @rule(hours=st.sampled_from([-6, 6]))
    def clock_jumps(self, hours: int) -> None:
        """I19."""
        soaked = [wave.soaked for wave in self.control.kept.waves]
        self.stepped(hours * 60)
        for was, wave in zip(soaked, self.control.kept.waves, strict=True):
            assert wave.soaked - was <= SPEC.longest_tick

    @rule(node=nodes)
    def node_breaks(self, node: NodeName) -> None:
        if node in self.control.site.nodes:
            self.control.site.change(node, healthy=False)

    @rule(node=nodes)
    def node_heals(self, node: NodeName) -> None:
        if node in self.control.site.nodes:
            self.control.site.change(node, healthy=True)

    @rule(node=nodes, everywhere=st.booleans())
    def node_is_bad(self, node: NodeName, everywhere: bool) -> None:
        site = self.control.site
        (site.hopeless if everywhere else site.defective).add(node)

    @rule(node=nodes)
    def reboots_by_itself(self, node: NodeName) -> None:
        if node in self.control.site.nodes:
            self.control.site.reboot(node)

    @rule(node=nodes, ends=st.booleans())
    def long_job(self, node: NodeName, ends: bool) -> None:
        site = self.control.site
        if node in site.nodes and ends:
            site.drop(node)
        elif node in site.nodes and not site.nodes[node].cordons:
            site.busy.add(node)
            site.change(node, jobs=1)

    @rule(node=nodes, cordoned=st.booleans())
    def person_cordons(self, node: NodeName, cordoned: bool) -> None:
        site = self.control.site
        if node in site.nodes:
            cordons = site.nodes[node].cordons
            site.change(node, cordons=cordons | {PERSON} if cordoned else cordons - {PERSON})
            self.people[node] = cordoned

    @rule(node=nodes)
    def node_is_removed(self, node: NodeName) -> None:
        if len(self.control.site.nodes) > len(NODES) - 3 and node in self.control.site.nodes:
            self.control.site.remove(node)
            self.people.pop(node, None)

    @rule(action=st.sampled_from([Action.CORDON, Action.REBOOT, Action.UNCORDON, Action.FLIP]), dead=st.booleans())
    def service_dies(self, action: Action, dead: bool) -> None:
        (self.control.site.deaf.add if dead else self.control.site.deaf.discard)(action)

    @rule(what=st.sampled_from(["pause", "resume", "abort", "return", "return all"]))
    def person_acts(self, what: str) -> None:
        control = self.control
        was = control.kept
        for _ in range(2):
            before = control.kept
            try:
                control.kept = self.acted(what)
            except Conflict:
                assert control.kept is before
        if what == "abort" and was.closed_at is not None:
            assert control.kept == was, "I13"

    def acted(self, what: str) -> Rollout:
        kept, now = self.control.kept, self.control.now
        match what:
            case "pause":
                after = pause(kept, "ann")
                assert pause(after, "ann") == after, "I18"
            case "resume":
                after = resume(kept)
                assert resume(after) == after, "I18"
            case "abort":
                after = abort(kept, "ann", now)
                assert abort(after, "ann", now) == after, "I18"
            case _:
                scope = ReturnScope.ALL if what == "return all" else ReturnScope.WAVE
                after = send_back(kept, "ann", now, scope)
                assert send_back(after, "ann", now, scope) == after, "I18"
        return after

    @precondition(lambda self: self.control.kept.paused_by is PausedBy.GATE)
    @rule(verdict=st.sampled_from([Verdict.PASS, Verdict.FAIL]))
    def person_decides(self, verdict: Verdict) -> None:
        kept = self.control.kept
        wave = kept.open_wave
        if wave is not None and wave.verdict is Verdict.INCONCLUSIVE:
            key = GateKey(kept.generation, wave.number)
            if key not in kept.decisions:
                self.control.kept = decide(kept, key, verdict, "ann", "looked at it")

    @invariant()
    def no_mixed_release_in_service(self) -> None:
        """I3, I4: in service are nodes without our cordon; within a unit they run one release, and are labelled so."""
        site, rollout = self.control.site, self.control.kept
        for name, unit in rollout.plan.units.items():
            task = rollout.tasks.get(name)
            out = task.quarantined if task else frozenset()
            there = [site.nodes[node] for node in unit.nodes if node in site.nodes and node not in out]
            serving = [facts for facts in there if rollout.plan.spec.name not in facts.cordons]
            if (
                serving
                and len(serving) == len(there)
                and state_of(rollout, name) in {UnitState.ON_OLD, UnitState.ON_NEW}
            ):
                assert len({facts.digest for facts in serving}) == 1, "I3"
                assert all(facts.label == facts.digest for facts in serving), "I4"

    @invariant()
    def caps_hold(self) -> None:
        """I15."""
        assert all(count <= 1 for count in self.control.kept.tallies.busy.values())

    @invariant()
    def people_keep_their_cordons(self) -> None:
        """I14."""
        nodes_there = self.control.site.nodes
        assert all((PERSON in nodes_there[node].cordons) == is_on for node, is_on in self.people.items())

    @invariant()
    def one_reboot_for_one_intent(self) -> None:
        """I8."""
        assert max(self.control.site.reboots.values(), default=0) <= 1

    @invariant()
    def pointers_do_not_dangle(self) -> None:
        """I5, I11."""
        kept, closed = pinned(self.control.kept, self.control.now), self.control.kept.closed_at
        over = closed is not None and self.control.now >= closed + SPEC.retention
        assert over or {facts.active for facts in self.control.site.nodes.values()} <= kept

    @invariant()
    def nothing_is_kept_for_what_is_gone(self) -> None:
        """I20."""
        rollout = self.control.kept
        assert not [node for node in rollout.gone if node in rollout.facts or node in rollout.heard]
        gone = {rollout.plan.unit_of[node] for node in rollout.gone}
        empty = [name for name in gone if not set(rollout.plan.units[name].nodes) - rollout.gone]
        assert not [name for name in empty if name in rollout.tallies.in_hand or name in rollout.tallies.pending]

    def teardown(self) -> None:
        """I7: in a world that is fair again it ends, or waits for a person with a reason."""
        if not hasattr(self, "control"):
            return
        site = self.control.site
        site.deaf, site.hopeless, site.defective = set(), set(), set()
        for node in list(site.nodes):
            site.drop(node)
            site.change(node, healthy=True, cordons=site.nodes[node].cordons - {PERSON})
        self.people = {}
        for _ in range(600):
            kept = self.control.kept
            if kept.closed_at is not None or kept.paused_by in {PausedBy.PERSON, PausedBy.GATE}:
                break
            self.stepped(5)
        kept = self.control.kept
        assert kept.state in ENDED or (kept.paused_by and kept.why), (kept.state, kept.why)


TestRollout = RolloutMachine.TestCase
TestRollout.settings = settings(
    max_examples=250,
    stateful_step_count=40,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],  # making a failing case shorter takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
