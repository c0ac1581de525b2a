"""What went wrong in public with nodes: floors, leases, drains, reboots. One case each; its docstring is the thread."""

from dataclasses import replace
from datetime import time, timedelta
from zoneinfo import ZoneInfo

import pytest

from provisioner.errors import BadInput, Conflict
from provisioner.rollout.intent import Action
from provisioner.rollout.people import (
    draft,
    pause,
    resume,
    supersede,
)
from provisioner.rollout.plan import plan
from provisioner.rollout.spec import Floor
from provisioner.rollout.state import PausedBy, RolloutState, UnitState, WaveState
from provisioner.rollout.step import step
from provisioner.rollout.unit import DomainKind
from provisioner.rollout.windows import Window
from tests.rollout.site import (
    NOW,
    OLD,
    OTHER,
    SPEC,
    Controller,
    Site,
    digests,
    has,
    jobs_end,
    long_jobs,
    running,
    started,
    states,
    units_of,
)


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
