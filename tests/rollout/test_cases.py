"""What went wrong in public with other people's rollouts, one case each; the thread is in the docstring."""

from collections.abc import Callable
from dataclasses import replace
from datetime import time, timedelta
from zoneinfo import ZoneInfo

import pytest

from provisioner.errors import BadInput, Conflict
from provisioner.rollout.intent import Action
from provisioner.rollout.people import (
    abort,
    approve,
    approve_irreversible,
    decide,
    draft,
    pause,
    resume,
    send_back,
    start,
    supersede,
)
from provisioner.rollout.pins import pinned
from provisioner.rollout.plan import plan
from provisioner.rollout.spec import Floor, ReturnScope, Soak
from provisioner.rollout.state import GateKey, PausedBy, Rollout, RolloutState, UnitState, Verdict, WaveState
from provisioner.rollout.step import step
from provisioner.rollout.unit import DomainKind
from provisioner.rollout.windows import Window
from tests.rollout.site import MINUTE, NEW, NOW, OLD, OTHER, SPEC, Controller, Site, running, started, units_of


def states(rollout: Rollout) -> set[UnitState]:
    return {rollout.tasks[name].state if name in rollout.tasks else UnitState.ON_OLD for name in rollout.plan.units}


def has(state: UnitState) -> Callable[[Rollout], bool]:
    return lambda rollout: any(task.state is state for task in rollout.tasks.values())


def digests(control: Controller) -> set[str | None]:
    return {facts.digest for facts in control.site.nodes.values()}


def long_jobs(control: Controller) -> None:
    """On every node, and they do not end."""
    control.site.busy = set(control.site.nodes)
    for node in control.site.nodes:
        control.site.change(node, jobs=1)


def jobs_end(control: Controller) -> None:
    for node in list(control.site.nodes):
        control.site.drop(node)


def test_an_unhealthy_old_release_never_blocks_a_good_new_one() -> None:
    """argoproj/argo-rollouts#1774, #995, #3110."""
    units = units_of(10)
    rollout = started(units, broken=[unit.name for unit in units])
    control = Controller(Site.of(units, healthy=False), rollout)
    assert control.run().state is RolloutState.COMPLETE
    assert states(control.kept) == {UnitState.ON_NEW}


def test_abort_of_what_has_ended_does_nothing() -> None:
    """argo-rollouts#1292."""
    control = running(units_of(10))
    ended = control.run()
    assert abort(ended, "ann", control.now) is ended
    assert control.step() == ()
    assert digests(control) == {NEW}


def test_after_an_abort_the_next_rollout_starts_clean() -> None:
    """argo-rollouts#2048."""
    control = running(units_of(10))
    control.run(lambda rollout: rollout.tallies.in_hand != {})
    control.kept = abort(control.kept, "ann", control.now)
    control.run()
    assert control.kept.state is RolloutState.ABORTED
    units = [
        replace(unit, release=control.site.nodes[unit.nodes[0]].active or OLD)
        for unit in control.kept.plan.units.values()
    ]
    third = Controller(control.site, started(units, replace(SPEC, name="r3", to_release=OTHER)), control.now)
    control.site.changed = set(control.site.nodes)
    assert third.run().state is RolloutState.COMPLETE
    assert digests(third) == {OTHER}


def test_nothing_moves_without_approval_however_long_it_takes() -> None:
    """argo-rollouts#185."""
    units = units_of(10)
    control = Controller(Site.of(units), draft(plan(SPEC, units)))
    for _ in range(50):
        assert control.step(60) == ()
    with pytest.raises(Conflict, match="approve it first"):
        start(control.kept)


def test_a_return_to_what_is_still_kept_takes_no_soak() -> None:
    """argo-rollouts#127: the way back goes through no pause of the way forth."""
    control = running(units_of(10), replace(SPEC, soak=Soak(timedelta(hours=8))))
    control.run(lambda rollout: rollout.waves[0].state is WaveState.CLOSED and not rollout.tallies.in_hand)
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    began = control.now
    assert control.run().state is RolloutState.RETURNED
    assert control.now - began < timedelta(minutes=30)
    assert digests(control) == {OLD}
    assert control.kept.rejected == {"h100"}


def test_the_other_side_is_released_after_the_retention() -> None:
    """argo-rollouts#3242."""
    control = running(units_of(10))
    control.run(lambda rollout: rollout.waves[0].state is WaveState.CLOSED)
    control.kept = send_back(control.kept, "ann", control.now)
    control.run()
    later = control.now + SPEC.retention
    assert pinned(control.kept, later - MINUTE) == {OLD, NEW}
    assert pinned(control.kept, later) == set()
    with pytest.raises(Conflict, match="no longer kept"):
        send_back(control.kept, "ann", later)


def inconclusive(steps: int = 3000) -> Controller:
    """One of 18 nodes of the first wave fails its check: neither good nor bad."""
    control = running(units_of(6, 18), replace(SPEC, may_run_short=1))
    control.site.defective = {control.kept.plan.units[control.kept.plan.waves[0][0]].nodes[3]}
    control.run(lambda rollout: rollout.paused_by is PausedBy.GATE, steps)
    return control


def test_an_inconclusive_gate_holds_and_a_decision_goes_on_once() -> None:
    """argo-rollouts#3015, #261."""
    control = inconclusive()
    assert control.kept.waves[0].verdict is Verdict.INCONCLUSIVE
    for _ in range(20):
        assert control.step(60) == ()
    with pytest.raises(Conflict, match="decide about the gate"):
        resume(control.kept)
    key = GateKey(control.kept.generation, 0)
    control.kept = decide(control.kept, key, Verdict.PASS, "ann", "a known bad cable")
    assert decide(control.kept, key, Verdict.PASS, "ann", "a known bad cable") is control.kept
    with pytest.raises(Conflict, match="ann has decided gate 0 already"):
        decide(control.kept, key, Verdict.FAIL, "bob", "no")
    control.step()
    assert control.kept.decisions[key].used
    assert control.kept.waves[1].state is WaveState.OPEN


def test_the_result_of_one_gate_is_not_taken_for_the_next() -> None:
    """argo-rollouts#1203: results are keyed by the step that they are of."""
    control = inconclusive()
    first = GateKey(control.kept.generation, 0)
    control.kept = decide(control.kept, first, Verdict.PASS, "ann", "a known bad cable")
    second = control.kept.plan.units[control.kept.plan.waves[1][0]].nodes
    control.site.defective |= {second[0]}
    control.run(lambda rollout: rollout.waves[1].state is WaveState.JUDGED)
    assert control.kept.waves[1].verdict is Verdict.INCONCLUSIVE
    assert not control.step(60)
    with pytest.raises(Conflict, match="gate 0"):
        decide(control.kept, replace(first), Verdict.FAIL, "bob", "no")


def test_a_new_rollout_soaks_from_nothing() -> None:
    """fluxcd/flagger#30: a new revision in the middle of an analysis starts its own."""
    control = running(units_of(10))
    control.run(lambda rollout: rollout.waves[0].soaked >= 9 * MINUTE)
    control.kept = supersede(control.kept, "r2", control.now)
    control.run()
    units = [replace(unit, release=NEW) if unit.name in control.kept.tasks else unit for unit in units_of(10)]
    second = Controller(control.site, started(units, replace(SPEC, name="r2", to_release=OTHER)), control.now)
    control.site.changed = set(control.site.nodes)
    second.run(lambda rollout: rollout.waves[0].state is WaveState.SOAKING)
    second.step(5)
    assert second.kept.waves[0].state is WaveState.SOAKING
    assert second.run().state is RolloutState.COMPLETE


@pytest.mark.parametrize("late", [UnitState.CHECKED, UnitState.READY, UnitState.ON_NEW])
def test_a_failure_after_the_last_gate_goes_back_too(late: UnitState) -> None:
    """fluxcd/flagger#1591, #1588: every phase has a way back."""
    control = running(units_of(10))
    last = len(control.kept.waves) - 1

    def is_late(rollout: Rollout) -> bool:
        return any(task.wave == last and task.state is late for task in rollout.tasks.values())

    control.run(is_late)
    name = next(name for name, task in control.kept.tasks.items() if task.wave == last and task.state is late)
    control.site.change(control.kept.plan.units[name].nodes[0], digest=OTHER)
    control.step()
    assert control.kept.state is RolloutState.RETURNING
    assert "and not sha256:new" in control.kept.why
    assert control.run().state is RolloutState.RETURNED
    assert all(task.state is UnitState.ON_OLD for task in control.kept.tasks.values() if task.wave == last)


def test_a_late_start_still_honours_the_shares() -> None:
    """coreos/fedora-coreos-streams#183: all servers updated at once."""
    control = running(units_of(200))
    control.now += timedelta(days=30)
    for _ in range(10):
        control.step()
    assert len(control.kept.tasks) == 1


def window(start: int, hours: int) -> Window:
    return Window(frozenset(range(7)), time(start), timedelta(hours=hours), ZoneInfo("UTC"))


def test_floor_and_window_hold_together() -> None:
    """coreos/zincati#1014: a lock and a window could not be combined."""
    spec = replace(SPEC, windows=(window(20, 10),), floor=Floor(percent=80), caps={})
    control = running(units_of(10), spec)
    for _ in range(7 * 60):
        assert control.step() == ()
    assert control.kept.paused_by is PausedBy.WINDOW
    most = 0
    for _ in range(4 * 60):
        control.step()
        out = sum(not facts.available for facts in control.site.nodes.values())
        most = max(most, out)
    assert most == 2
    assert control.kept.state is RolloutState.COMPLETE


def test_a_unit_that_no_longer_fits_the_window_when_it_is_drained_is_not_touched() -> None:
    control = running(units_of(10), replace(SPEC, windows=(window(12, 7),), drain_deadline=timedelta(minutes=10)))
    control.step(0)
    long_jobs(control)
    control.run(has(UnitState.DRAINING))
    control.now += timedelta(hours=3)
    jobs_end(control)
    control.step()
    control.step()
    assert states(control.kept) == {UnitState.ON_OLD}
    assert digests(control) == {OLD}
    assert not any(facts.cordons for facts in control.site.nodes.values())


def test_a_lease_asked_for_again_is_the_same_lease() -> None:
    """coreos/zincati#756: the lock was asked for again while waiting."""
    control = running(units_of(10))
    intents = [intent for intent in control.step() if intent.action is Action.RESERVE]
    nodes = dict(control.site.nodes)
    for _ in range(3):
        control.site.do(intents[0])
    assert control.site.nodes == nodes
    assert len({intent.key for intent in intents}) == 1


def test_who_holds_a_node_is_said() -> None:
    """coreos/airlock#81: nobody could see who held the slots."""
    control = running(units_of(10))
    for node in control.site.nodes:
        control.site.change(node, holder="r0")
    control.step()
    assert control.kept.paused_by is PausedBy.BLOCKED
    assert "r0 has it in hand" in control.kept.why


def test_what_was_granted_and_never_began_ends_in_time() -> None:
    """flatcar/nebraska#76: "in progress" from the grant alone."""
    control = running(units_of(10))
    control.site.deaf = {Action.RESERVE}
    control.step()
    (name,) = control.kept.tallies.in_hand
    assert control.kept.tasks[name].state is UnitState.RESERVED
    control.run(lambda rollout: not rollout.tallies.in_hand)
    assert control.kept.tasks[name].deferrals == 1
    control.site.deaf = set()
    assert control.run().state is RolloutState.COMPLETE


def test_a_pause_of_three_days_leaves_nothing_behind() -> None:
    """flatcar/nebraska#853: instances stuck in waiting after a long pause."""
    control = running(units_of(10))
    long_jobs(control)
    control.run(has(UnitState.DRAINING))
    control.kept = pause(control.kept, "ann")
    control.step(72 * 60)
    jobs_end(control)
    for _ in range(30):
        control.step()
    assert not control.kept.tallies.in_hand
    assert states(control.kept) == {UnitState.ON_OLD, UnitState.ON_NEW}
    control.kept = resume(control.kept)
    assert control.run().state is RolloutState.COMPLETE
    assert max(control.site.reboots.values()) == 1


def test_units_in_hand_of_both_rollouts_count_for_the_floor() -> None:
    """openshift/machine-config-operator PR 699: a second config was started early, and the limit was exceeded."""
    spec = replace(SPEC, floor=Floor(percent=80), caps={})
    first = running(units_of(20), spec)
    first.run(lambda rollout: len(rollout.tallies.in_hand) == 4)
    first.kept = supersede(first.kept, "r2", first.now)
    units = units_of(20)
    second = Controller(first.site, started(units, replace(spec, name="r2", to_release=OTHER)), first.now)
    for _ in range(400):
        first.site.changed = set(first.site.nodes)
        first.step()
        first.site.changed = set(first.site.nodes)
        second.step()
        assert sum(not facts.available for facts in first.site.nodes.values()) <= 4
    assert first.kept.closed_at is not None
    assert second.kept.state is RolloutState.COMPLETE


def test_a_superseded_rollout_mixes_no_third_release_in() -> None:
    """openshift/machine-config-operator PR 699; I17: what is in hand finishes or goes back, and nothing is taken."""
    control = running(units_of(10, 2), replace(SPEC, caps={}))
    control.run(lambda rollout: rollout.waves[-1].state is WaveState.OPEN and len(rollout.tallies.in_hand) > 1)
    taken = set(control.kept.tasks)
    control.kept = supersede(control.kept, "r2", control.now)
    assert supersede(control.kept, "r2", control.now) == control.kept
    with pytest.raises(Conflict, match="r2 supersedes it already"):
        supersede(control.kept, "r3", control.now)
    control.run()
    assert set(control.kept.tasks) == taken
    assert states(control.kept) == {UnitState.ON_OLD, UnitState.ON_NEW}


def test_a_drain_is_tried_again_once_its_cause_is_gone() -> None:
    """okd-project/okd#593: it failed five times, and was never tried again."""
    control = running(units_of(10))
    long_jobs(control)
    control.run(lambda rollout: any(task.deferrals == 6 for task in rollout.tasks.values()))
    assert not control.kept.waves[0].failed_units
    jobs_end(control)
    assert control.run().state is RolloutState.COMPLETE


def test_nothing_changes_on_a_node_whose_drain_never_ends() -> None:
    """openshift/machine-config-operator#1038: half-updated nodes."""
    control = running(units_of(10), replace(SPEC, to_firmware="fw2"))
    long_jobs(control)
    for _ in range(300):
        control.step()
    asked = {intent.action for intent in control.site.log}
    assert asked == {Action.RESERVE, Action.CORDON, Action.DRAIN, Action.UNCORDON}


def test_a_rollout_stops_when_what_it_brought_is_not_available() -> None:
    """kubernetes-sigs/cluster-api PR 13020: it went on while the new ones were unavailable."""
    control = running(units_of(20))
    control.site.deaf = {Action.CHECK}
    control.run(lambda rollout: rollout.paused_by is PausedBy.GATE)
    assert control.kept.why == "h100: 1 of 1 nodes failed, and 0 of 19 of its control group"
    assert len(control.kept.tasks) == 1
    assert not control.step(60)


def test_irreversible_firmware_needs_its_own_approval_and_never_falls_back_in_silence() -> None:
    """kubernetes-sigs/cluster-api#13863: fail closed, and say why."""
    spec = replace(SPEC, to_firmware="fw2", irreversible=True, old_image_on_new_firmware=False)
    units = units_of(10)
    rollout = approve(draft(plan(spec, units)), "ann")
    with pytest.raises(Conflict, match="have that approved first"):
        start(rollout)
    with pytest.raises(Conflict, match="another person"):
        approve_irreversible(rollout, "ann")
    control = Controller(Site.of(units), start(approve_irreversible(rollout, "bob")))
    control.site.defective = set(control.site.nodes)
    control.run(lambda rollout: rollout.paused_by is PausedBy.GATE)
    (task,) = control.kept.tasks.values()
    assert task.state is UnitState.QUARANTINED
    assert "the old image does not run on the new firmware" in task.why


def test_when_both_releases_fail_a_node_stays_up_for_a_person() -> None:
    """fedora-iot/greenboot#26: it rebooted for ever."""
    control = running(units_of(10))
    node = control.kept.plan.units[control.kept.plan.waves[0][0]].nodes[0]
    control.site.hopeless = {node}
    control.run(lambda rollout: UnitState.QUARANTINED in states(rollout))
    control.run(lambda rollout: rollout.paused_by is PausedBy.GATE or rollout.closed_at is not None)
    boots = [key for key in control.site.reboots if key[1] == node]
    for _ in range(100):
        control.step(60)
    assert len(boots) == len([key for key in control.site.reboots if key[1] == node]) == 2
    (stuck,) = [task for task in control.kept.tasks.values() if task.state is UnitState.QUARANTINED]
    assert "look at it" in stuck.why


def test_what_a_person_has_cordoned_is_left_to_that_person() -> None:
    """NVIDIA/gpu-operator#2820: it touched, and uncordoned, nodes that others had cordoned."""
    control = running(units_of(10))
    theirs = control.kept.plan.units[control.kept.plan.waves[-1][0]].nodes[0]
    control.site.change(theirs, cordons=frozenset({"bob"}))
    control.run(lambda rollout: rollout.paused_by is PausedBy.BLOCKED)
    assert "cordoned by bob" in control.kept.why
    assert theirs not in {node for intent in control.site.log for node in intent.nodes}
    control.site.change(theirs, cordons=frozenset())
    assert control.run().state is RolloutState.COMPLETE


def test_a_check_that_fails_after_the_boot_keeps_the_node_out_of_the_scheduler() -> None:
    """mej/nhc PR 84, 115: Slurm resumed nodes ahead of their health check."""
    control = running(units_of(10))
    control.site.deaf = {Action.CHECK}
    control.run(has(UnitState.CHECKED))
    (name,) = control.kept.tallies.in_hand
    node = control.kept.plan.units[name].nodes[0]
    for _ in range(20):
        control.step()
        assert "r1" in control.site.nodes[node].cordons


def test_a_pool_that_grows_meanwhile_does_not_change_what_is_planned() -> None:
    """argo-rollouts#4552: a change of scale within the new version touched the stable one."""
    control = running(units_of(10))
    extra = units_of(3, prefix="w")
    for unit in extra:
        control.site.nodes |= {unit.nodes[0]: replace(control.site.nodes["u0000-n0"])}  # type: ignore[index]  # a name
    control.site.changed = set(control.site.nodes)
    control.run()
    assert {control.site.nodes[unit.nodes[0]].digest for unit in extra} == {OLD}


def test_a_removed_domain_frees_what_was_kept_for_it() -> None:
    """kured#822, #847, #137."""
    control = running(units_of(10, 2))
    long_jobs(control)
    control.run(has(UnitState.DRAINING))
    jobs_end(control)
    (name,) = control.kept.tallies.in_hand
    for node in control.kept.plan.units[name].nodes:
        control.site.remove(node)
    forgotten = [intent for intent in control.step() if intent.action is Action.FORGET]
    assert len({intent.key for intent in forgotten}) == 2
    assert control.kept.tasks[name].state is UnitState.REMOVED
    assert not control.kept.tallies.busy
    assert control.run().state is RolloutState.COMPLETE


def test_a_tenth_that_fails_its_first_boot_is_no_defect() -> None:
    """warewulf#1666: some 10 % failed in a mass reboot; they boot when tried again."""
    control = running(units_of(20), replace(SPEC, caps={DomainKind.LEAF: 1}))
    control.run(has(UnitState.REBOOTING))
    control.site.deaf = {Action.REBOOT}
    control.run(lambda rollout: any(task.attempt == 2 for task in rollout.tasks.values()))
    control.site.deaf = set()
    assert control.run().state is RolloutState.COMPLETE
    assert not any(wave.failed_units for wave in control.kept.waves)


def test_an_unknown_pool_is_refused() -> None:
    """coreos/airlock#81: the wrong group's limit was applied."""
    with pytest.raises(BadInput, match="/pool: nothing in pool"):
        plan(SPEC, [])


def test_a_step_of_what_is_only_planned_takes_in_what_is_seen() -> None:
    units = units_of(10)
    site = Site.of(units)
    rollout, intents = step(draft(plan(SPEC, units)), site.seen(), NOW)
    assert intents == ()
    assert len(rollout.facts) == 10
