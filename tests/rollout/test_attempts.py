"""Attempts: what is counted for which, when they end, and who never gives up."""

from dataclasses import replace

import pytest

from provisioner.rollout.intent import Action
from provisioner.rollout.observation import Failure
from provisioner.rollout.people import pause, supersede
from provisioner.rollout.state import Heading, Rollout, RolloutState, UnitState, UnitTask
from provisioner.rollout.unit import UnitName
from tests.rollout.site import SPEC, Controller, has, jobs_end, long_jobs, running, units_of


def first_in_hand(control: Controller, state: UnitState) -> UnitName:
    """The only unit in hand, once it is in the state."""
    control.run(has(state))
    (name,) = control.kept.tallies.in_hand
    return name


def fails(control: Controller, name: UnitName, failure: Failure) -> None:
    """The node of the unit says so, from now on and whatever else it says."""
    control.site.change(control.kept.plan.units[name].nodes[0], failure=failure)


def is_seen_anew(control: Controller, name: UnitName) -> None:
    """The node of the unit says something else that is new."""
    node = control.kept.plan.units[name].nodes[0]
    seconds = control.site.nodes[node].boot_seconds or 0.0
    control.site.change(node, boot_seconds=seconds + 1)


def test_a_failure_counts_for_its_own_attempt_once() -> None:
    """It stands in what is seen of the node until another one takes its place; attempt 2 has its whole time."""
    control = running(units_of(10))
    control.site.deaf = {Action.CHECK}
    name = first_in_hand(control, UnitState.CHECKED)
    task = control.kept.tasks[name]
    fails(control, name, Failure(Action.CHECK, 1, task.generation, "bandwidth too low"))
    control.step()
    assert control.kept.tasks[name].attempt == 2
    began = control.kept.clock
    for _ in range(10):
        is_seen_anew(control, name)
        assert control.step() == ()
        assert control.kept.tasks[name].attempt == 2
    control.run(lambda rollout: rollout.tasks[name].attempt == 3)
    assert control.kept.clock - began >= SPEC.deadline(Action.CHECK)


def test_a_failure_of_an_earlier_turn_says_nothing_of_this_one() -> None:
    """The drain of generation 1 failed; the unit went back into service, and is drained anew in generation 3."""
    control = running(units_of(10))
    long_jobs(control)
    name = first_in_hand(control, UnitState.DRAINING)
    assert control.kept.tasks[name].generation == 1
    fails(control, name, Failure(Action.DRAIN, 1, 1, "the scheduler refused"))
    control.run(lambda rollout: rollout.tasks[name].state is UnitState.ON_OLD)
    control.run(lambda rollout: rollout.tasks[name].state is UnitState.DRAINING)
    assert control.kept.tasks[name].generation == 3
    for _ in range(10):
        is_seen_anew(control, name)
        control.step()
        assert control.kept.tasks[name].state is UnitState.DRAINING
    assert control.kept.tasks[name].deferrals == 1
    jobs_end(control)
    assert control.run().state is RolloutState.COMPLETE


def test_a_failure_of_another_action_says_nothing() -> None:
    control = running(units_of(10))
    control.site.deaf = {Action.CHECK}
    name = first_in_hand(control, UnitState.CHECKED)
    fails(control, name, Failure(Action.REBOOT, 1, control.kept.tasks[name].generation, "late"))
    for _ in range(10):
        is_seen_anew(control, name)
        control.step()
    assert control.kept.tasks[name].attempt == 1


def test_a_step_has_as_many_tries_as_asked_for() -> None:
    """With two tries: a failure is tried once more; the second one is counted, and the unit goes back."""
    control = running(units_of(40), replace(SPEC, tries=2, auto_return=False))
    control.site.deaf = {Action.CHECK}
    name = first_in_hand(control, UnitState.CHECKED)
    control.run(lambda rollout: rollout.tasks[name].heading is Heading.TO_OLD)
    asked = {intent.attempt for intent in control.site.log if intent.action is Action.CHECK}
    assert asked == {1, 2}
    assert control.kept.waves[0].failed_units == 1


def uncordons(control: Controller, name: UnitName) -> list[int]:
    return [one.attempt for one in control.site.log if one.action is Action.UNCORDON and one.unit == name]


@pytest.mark.parametrize(
    ("heading", "end"),
    [
        (Heading.TO_NEW, UnitState.ON_NEW),
        (Heading.TO_OLD, UnitState.ON_OLD),
        (Heading.CANCELLED, UnitState.RESERVED),
    ],
    ids=["forth", "back", "cancelled and taken again"],
)
def test_an_uncordon_is_asked_for_until_it_is_done(heading: Heading, end: UnitState) -> None:
    """A node that is as it should be must not be lost to a scheduler that is away for an hour."""
    control = running(units_of(10))
    if heading is Heading.TO_OLD:
        control.site.defective = set(control.site.nodes)
    elif heading is Heading.CANCELLED:
        long_jobs(control)
    control.site.deaf = {Action.UNCORDON}
    name = first_in_hand(control, UnitState.UNCORDONED)
    assert control.kept.tasks[name].heading is heading
    for _ in range(60):
        control.step()
    task = control.kept.tasks[name]
    assert (task.state, task.heading) == (UnitState.UNCORDONED, heading)
    assert uncordons(control, name) == list(range(1, len(uncordons(control, name)) + 1))
    assert len(uncordons(control, name)) > SPEC.tries + 10
    assert not control.kept.waves[0].failed_units or heading is Heading.TO_OLD
    control.site.deaf = set()
    control.step()
    control.run(lambda rollout: rollout.tasks[name].state is not UnitState.UNCORDONED)
    assert control.kept.tasks[name].state is end


def spread(units: int = 60) -> Controller:
    """Units in every state between the reservation and the check: each has its own way to be slow."""
    control = running(units_of(units), replace(SPEC, canaries_per_kind=12, auto_return=False))
    jobs = list(control.kept.plan.waves[0])
    for name in jobs[4:8]:
        (node,) = control.kept.plan.units[name].nodes
        control.site.busy.add(node)
        control.site.change(node, jobs=1)
    control.site.deaf = {Action.CHECK}
    control.run(
        lambda rollout: rollout.tasks[jobs[0]].state is UnitState.CHECKED if jobs[0] in rollout.tasks else False
    )
    return control


def in_hand(control: Controller, state: UnitState) -> list[UnitTask]:
    tasks = control.kept.tasks
    return [tasks[name] for name in control.kept.tallies.in_hand if tasks[name].state is state]


@pytest.mark.parametrize("auto_return", [True, False])
def test_what_is_unchanged_is_cancelled_in_the_step_that_stops(auto_return: bool) -> None:
    """Its jobs may run for hours: it must not stay out of service until they end, only to turn round then."""
    control = spread()
    spec = replace(control.kept.plan.spec, auto_return=auto_return)
    control.kept = replace(control.kept, plan=replace(control.kept.plan, spec=spec))
    draining = [task.unit for task in in_hand(control, UnitState.DRAINING)]
    (checked, *_) = [task.unit for task in in_hand(control, UnitState.CHECKED)]
    assert len(draining) == 4
    control.site.change(control.kept.plan.units[checked].nodes[0], image_refused="bad signature")
    intents = control.step()
    assert {(one.unit, one.action) for one in intents if one.unit in draining} == {
        (name, Action.UNCORDON) for name in draining
    }
    tasks = control.kept.tasks
    assert {(tasks[name].state, tasks[name].heading) for name in draining} == {
        (UnitState.UNCORDONED, Heading.CANCELLED)
    }
    control.step()
    assert {control.kept.tasks[name].state for name in draining} == {UnitState.ON_OLD}
    assert not {
        (node, site.cordons) for node, site in control.site.nodes.items() if node[:-3] in draining and site.cordons
    }
    for _ in range(30):
        control.step()
    assert {control.kept.tasks[name].state for name in draining} == {UnitState.ON_OLD}


def test_what_is_unchanged_is_cancelled_when_a_successor_comes() -> None:
    control = spread()
    draining = [task.unit for task in in_hand(control, UnitState.DRAINING)]
    control.kept = supersede(control.kept, "r2", control.now)
    control.step()
    assert {control.kept.tasks[name].heading for name in draining} == {Heading.CANCELLED}


def test_a_pause_of_a_person_cancels_nothing() -> None:
    control = spread()
    before = {name: control.kept.tasks[name].heading for name in control.kept.tallies.in_hand}
    control.kept = pause(control.kept, "ann")
    control.step()
    assert {name: control.kept.tasks[name].heading for name in before} == before


def test_a_unit_that_turns_round_is_asked_for_nothing_of_its_old_way_but_what_is_kept_out_stays_out() -> None:
    """One step: it goes on without a bad node, comes to its label, and is turned round by two that fail beside it."""
    spec = replace(SPEC, canaries_per_kind=3, may_run_short=1, tries=1)
    control = running(units_of(30, 4), spec)
    goes_on, *fail = control.kept.plan.waves[0]
    units = control.kept.plan.units
    bad = units[goes_on].nodes[0]
    control.site.defective = {bad, *(node for name in fail for node in units[name].nodes[:2])}
    control.run(lambda rollout: states_of(rollout, goes_on, *fail) == [UnitState.CHECKED] * 3)
    intents = [intent for intent in control.step() if intent.unit == goes_on]
    assert control.kept.state is RolloutState.RETURNING
    assert "units of wave 0 failed" in control.kept.why
    assert {(one.action, one.nodes) for one in intents if one.generation == 1} == {(Action.QUARANTINE, (bad,))}
    assert Action.LABEL not in {one.action for one in intents}
    assert control.kept.tasks[goes_on].heading is Heading.TO_OLD


def states_of(rollout: Rollout, *names: UnitName) -> list[UnitState]:
    return [rollout.tasks[name].state for name in names if name in rollout.tasks]
