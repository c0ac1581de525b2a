"""Which units a step takes, what becomes of their tasks, and what a step leaves alone."""

from dataclasses import fields, replace
from datetime import timedelta

from provisioner.models.identifiers import NodeName
from provisioner.rollout.intent import Action
from provisioner.rollout.observation import Observations
from provisioner.rollout.people import send_back
from provisioner.rollout.spec import Floor, ReturnScope, Soak
from provisioner.rollout.state import Heading, RolloutState, UnitState, UnitTask, WaveState
from provisioner.rollout.step import step
from provisioner.rollout.taking import AT_ONCE
from provisioner.rollout.unit import UnitName
from tests.rollout.site import SPEC, has, long_jobs, running, units_of


def test_one_step_takes_so_many_units_and_the_next_one_goes_on() -> None:
    control = running(units_of(800), replace(SPEC, caps={}))
    control.run(lambda rollout: rollout.waves[-1].state is WaveState.OPEN)
    before = len(control.kept.tallies.in_hand)
    assert before <= AT_ONCE
    room = 800 // 2 - before
    for _ in range(3):
        was = set(control.kept.tasks)
        control.step(0)
        taken = len(set(control.kept.tasks) - was)
        assert taken == min(AT_ONCE, room)
        room -= taken
    assert len(control.kept.tallies.in_hand) > 3 * AT_ONCE


def test_a_leaf_that_is_busy_keeps_no_other_leaf_waiting() -> None:
    control = running(units_of(40, leafs=4))
    control.run(lambda rollout: rollout.waves[-1].state is WaveState.OPEN and len(rollout.tallies.in_hand) == 4)
    busy = control.kept.tallies.busy
    assert sorted(domain.name for domain in busy) == ["leaf0", "leaf1", "leaf2", "leaf3"]


def test_a_drain_has_one_try_of_its_whole_time() -> None:
    """Its time is what the jobs were promised: three times as long would be another promise."""
    control = running(units_of(10))
    long_jobs(control)
    control.run(has(UnitState.DRAINING))
    began = control.kept.clock
    control.run(lambda rollout: not rollout.tallies.in_hand)
    assert control.kept.clock - began < SPEC.drain_deadline + timedelta(minutes=5)
    assert {one.attempt for one in control.site.log if one.action is Action.DRAIN} == {1}


def test_whether_a_unit_was_broken_is_asked_each_time_that_it_is_taken() -> None:
    """It was whole when it went to the new release, and is dead when it goes back: that takes no room."""
    control = running(units_of(20))
    control.run(lambda rollout: rollout.waves[1].state is WaveState.SOAKING)
    first = control.kept.plan.waves[0][0]
    assert not control.kept.tasks[first].was_broken
    control.site.change(control.kept.plan.units[first].nodes[0], healthy=False)
    control.step()
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    control.run(lambda rollout: rollout.tasks[first].heading is Heading.TO_OLD)
    assert control.kept.tasks[first].was_broken


def test_what_is_seen_again_unchanged_changes_nothing() -> None:
    """After a restart every node is read anew: what is kept of those that are as before is not written again."""
    control = running(units_of(20), replace(SPEC, floor=Floor(percent=80)))
    control.run(lambda rollout: len(rollout.tallies.in_hand) > 1)
    control.site.deaf = set(Action)
    control.step()
    kept = control.kept
    control.site.nodes = {node: replace(facts) for node, facts in control.site.nodes.items()}
    after, intents = step(kept, control.site.seen_whole(), control.now)
    assert intents == ()
    assert all(after.facts[node] is facts for node, facts in kept.facts.items())
    assert all(after.tasks[name] is task for name, task in kept.tasks.items())


def test_the_silence_of_nodes_that_are_not_watched_is_nothing_and_not_kept() -> None:
    control = running(units_of(20), replace(SPEC, soak=Soak(timedelta(hours=3))))
    control.run(lambda rollout: rollout.waves[1].state is WaveState.SOAKING)
    taken = {node for name in control.kept.tasks for node in control.kept.plan.units[name].nodes}
    assert control.kept.heard.keys() > taken
    for _ in range(16):
        control.now += timedelta(minutes=1)
        control.kept, _ = step(control.kept, Observations(heard=frozenset(taken)), control.now)
    assert control.kept.state is RolloutState.RUNNING
    assert control.kept.heard.keys() == taken


def test_entering_a_state_keeps_all_else_of_a_task() -> None:
    hours = timedelta(hours=1)
    task = UnitTask(
        unit=UnitName("u"),
        wave=3,
        state=UnitState.FLIPPED,
        heading=Heading.TO_OLD,
        origin=UnitState.ON_NEW,
        attempt=2,
        generation=4,
        deadline=hours,
        boot_ids={NodeName("n"): "b1"},
        booted={NodeName("n"): "b2"},
        quarantined=frozenset({NodeName("n")}),
        was_broken=True,
        firmware_applied=True,
        failed=True,
        returned=True,
        deferrals=5,
        not_before=hours * 2,
        why="a reason",
    )
    entered = task.entering(
        UnitState.REBOOTING, deadline=hours * 3, boot_ids=task.boot_ids, booted=task.booted, firmware_applied=True
    )
    assert entered == replace(task, state=UnitState.REBOOTING, attempt=1, deadline=hours * 3)
    plain = UnitTask(UnitName("other"), 0, UnitState.ON_OLD)
    usual = [one.name for one in fields(task) if getattr(task, one.name) == getattr(plain, one.name)]
    assert usual == [], "nothing of the task would be missed otherwise"
