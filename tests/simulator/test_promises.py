"""Each promise is found broken where it is: with the seed, the simulated time and the number in the design."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from provisioner.errors import FirstlightError
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.observation import Observations
from provisioner.rollout.people import approve, draft, pause, start
from provisioner.rollout.plan import plan
from provisioner.rollout.state import Rollout, UnitState, UnitTask, Wave, WaveState
from provisioner.rollout.step import step
from provisioner.simulator.agenda import Agenda
from provisioner.simulator.controller import Controller
from provisioner.simulator.inventory import units_of
from provisioner.simulator.promises import Promises
from provisioner.simulator.scenario import NEW, OLD, Scenario
from provisioner.simulator.world import World

SCENARIO = Scenario(nodes=180, seed=7, base_failure=0.0, boot_failure=0.0)
UNITS = units_of(SCENARIO)
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def at_minute(minutes: int) -> Agenda:
    agenda = Agenda()
    agenda.now = minutes * 60.0
    return agenda


def world(agenda: Agenda) -> World:
    return World(SCENARIO, SCENARIO.spec(), UNITS, agenda)


def intent(action: Action, unit: int, *, boot_id: str = "", release: str = NEW, attempt: int = 1) -> Intent:
    nodes, boot_ids = UNITS[unit].nodes, (boot_id,) * len(UNITS[unit].nodes)
    return Intent("simulation", UNITS[unit].name, action, attempt, 1, 0, nodes, release, boot_ids=boot_ids)  # type: ignore[arg-type]  # a digest


def rollout() -> Rollout:
    return start(approve(draft(plan(SCENARIO.spec(), UNITS)), "ann"))


def taken(*units: int) -> Rollout:
    """In hand as the core would have it, whatever it would say to that."""
    before = rollout()
    names = [UNITS[unit].name for unit in units]
    tasks = {name: UnitTask(name, 0, UnitState.RESERVED) for name in names}
    return replace(before, tasks=tasks, tallies=replace(before.tallies, in_hand=dict.fromkeys(names)))


def rested(unit: int, state: UnitState = UnitState.ON_NEW) -> Rollout:
    name = UNITS[unit].name
    return replace(rollout(), tasks={name: UnitTask(name, 0, state)})


def test_floor() -> None:
    site = world(at_minute(90))
    site.do(intent(Action.CORDON, 0))
    with pytest.raises(FirstlightError, match=r"seed 7, 1:30:00 into the run: I1 floor: 36 nodes .* 18 may be"):
        site.do(intent(Action.CORDON, 1))


def test_nodes_that_were_out_before_are_not_out_because_of_the_rollout() -> None:
    """I16: what is broken already never blocks."""
    agenda = Agenda()
    site = world(agenda)
    site.power(UNITS[:3], on=False)
    control = Controller(rollout(), site, agenda, chance=None)  # type: ignore[arg-type]  # nobody dies
    control.look()
    out = [number for number in range(3) if UNITS[number].name in control.kept.tallies.in_hand]
    for number in out:
        site.do(intent(Action.CORDON, number))
    site.do(intent(Action.CORDON, 9))
    assert (len(out) > 0, site.nodes.ours) == (True, 18)


def test_one_release() -> None:
    site = world(at_minute(1))
    first, *others = UNITS[0].nodes
    site.nodes.set([first], digest=NEW)
    with pytest.raises(FirstlightError, match="I3 one release: d00000 takes jobs on sha256:blue and sha256:green"):
        site.do(intent(Action.UNCORDON, 0, release=OLD))
    site.nodes.set(others, healthy=False)
    site.do(intent(Action.UNCORDON, 0, release=OLD))


def test_one_reset() -> None:
    agenda = Agenda()
    site = world(agenda)
    site.do(intent(Action.FLIP, 0))
    site.do(intent(Action.REBOOT, 0, boot_id="b0"))
    site.do(intent(Action.REBOOT, 0, boot_id="b0"))
    while agenda.next_at < float("inf"):
        agenda.happen()
    site.do(intent(Action.REBOOT, 0, boot_id="b0"))
    assert set(site.boots.resets.values()) == {1}
    with pytest.raises(FirstlightError, match="I8 one reset: d00000-00 was reset 2 times for simulation/d00000/reboot"):
        site.do(intent(Action.REBOOT, 0, boot_id="b1"))


def test_another_attempt_is_another_reset() -> None:
    agenda = Agenda()
    site = world(agenda)
    for attempt in (1, 2):
        site.do(intent(Action.REBOOT, 0, boot_id="b0", attempt=attempt))
    assert set(site.boots.resets.values()) == {2}


def test_pause() -> None:
    promises = Promises(7, at_minute(3))
    with pytest.raises(FirstlightError, match=r"I12 pause: d00000 was taken while .* \(paused by ann\)"):
        promises.stepped(pause(rollout(), "ann"), taken(0))
    assert promises.stepped(rollout(), taken(0)) == [UNITS[0].name]


def test_caps() -> None:
    """Units 0 and 3 stand in one leaf domain, 0 and 7 in one power domain, 0 and 8 in neither."""
    promises = Promises(7, Agenda())
    assert len(promises.stepped(rollout(), taken(0, 8))) == 2
    with pytest.raises(FirstlightError, match=r"I15 caps: 2 units are in hand in (leaf|power) "):
        promises.stepped(rollout(), taken(0, 3))
    with pytest.raises(FirstlightError, match="I15 caps: 2 units are in hand in power power00000"):
        promises.stepped(rollout(), taken(0, 7))


def test_forward_once() -> None:
    promises = Promises(7, Agenda())
    promises.stepped(taken(0), rested(0))
    promises.stepped(taken(0), rested(0, UnitState.ON_OLD))
    promises.stepped(taken(0), rested(0))
    with pytest.raises(FirstlightError, match="I6 forward once: d00000 was brought to the new release twice"):
        promises.stepped(taken(0), rested(0))


def test_waves_in_order() -> None:
    promises = Promises(7, Agenda())
    opened = rollout()
    first, second = (replace(opened, waves=(Wave(0), Wave(1))) for _ in range(2))
    first = replace(first, waves=(Wave(0, WaveState.CLOSED), Wave(1, WaveState.OPEN)))
    promises.stepped(opened, first)
    with pytest.raises(FirstlightError, match="I6 waves in order: wave 0 is open after wave 1"):
        promises.stepped(first, replace(second, waves=(Wave(0, WaveState.OPEN), Wave(1))))


def test_the_core_keeps_them_in_its_first_step() -> None:
    site = world(Agenda())
    before = rollout()
    after, _ = step(before, Observations(site.nodes.report()), NOW)
    assert site.promises.stepped(before, after)
