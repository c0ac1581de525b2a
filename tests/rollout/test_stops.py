"""What stops a rollout at once; crashes that change nothing; and clocks that jump."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provisioner.errors import Conflict
from provisioner.rollout.observation import Observations
from provisioner.rollout.people import abort
from provisioner.rollout.spec import Floor, Metric, ReturnScope, Soak
from provisioner.rollout.state import PausedBy, Rollout, RolloutState, Trials, UnitState, Verdict, WaveState
from provisioner.rollout.step import step
from provisioner.rollout.takeover import outstanding, take_over
from tests.rollout.site import NEW, OLD, OTHER, SPEC, Controller, Site, running, started, units_of

LONG = replace(SPEC, soak=Soak(timedelta(hours=3)))


def soaking(units: int = 20, wave: int = 1) -> Controller:
    """A rollout with a wave that is being watched."""
    control = running(units_of(units), LONG)
    control.run(lambda rollout: rollout.waves[wave].state is WaveState.SOAKING)
    return control


def on_new(control: Controller) -> list[str]:
    """Nodes of the open wave that run the new release."""
    tasks = [task for task in control.kept.tasks.values() if task.state is UnitState.ON_NEW]
    last = max(task.wave for task in tasks)
    return [control.kept.plan.units[task.unit].nodes[0] for task in tasks if task.wave == last]


def returns(control: Controller, why: str) -> None:
    control.step()
    assert control.kept.state is RolloutState.RETURNING
    assert why in control.kept.why
    assert control.run().state is RolloutState.RETURNED


def test_another_digest_than_the_wanted_one_stops_at_once() -> None:
    control = running(units_of(20))
    control.run(lambda rollout: UnitState.FLIPPED in {task.state for task in rollout.tasks.values()})
    (name,) = control.kept.tallies.in_hand
    node = control.kept.plan.units[name].nodes[0]
    control.step()
    assert control.kept.tasks[name].state is UnitState.REBOOTING
    control.site.change(node, digest=OTHER)
    returns(control, f"{node}: runs sha256:other and not sha256:new")
    assert control.site.nodes[node].digest == OLD


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"digest": OLD}, "runs sha256:old and not sha256:new"),
        ({"managed": False}, "its BMC is lost"),
    ],
    ids=["digest", "bmc"],
)
def test_a_node_that_is_watched_stops_its_wave(changes: dict[str, object], why: str) -> None:
    control = soaking()
    control.site.change(on_new(control)[0], **changes)  # type: ignore[arg-type]  # a name
    control.step()
    assert (control.kept.state, why in control.kept.why) == (RolloutState.RETURNING, True)
    first = control.kept.plan.waves[0][0]
    control.run()
    assert control.kept.tasks[first].state is UnitState.ON_NEW, "only the open wave goes back"


@pytest.mark.parametrize("change", ["reboot", "refused"])
def test_a_node_in_hand_that_reboots_or_refuses_its_image_stops_at_once(change: str) -> None:
    control = running(units_of(20), replace(SPEC, burn_in=True))
    control.run(lambda rollout: UnitState.CHECKED in {task.state for task in rollout.tasks.values()})
    (name,) = control.kept.tallies.in_hand
    node = control.kept.plan.units[name].nodes[0]
    if change == "reboot":
        control.site.reboot(node)
    else:
        control.site.change(node, image_refused="bad signature")
    returns(control, "rebooted again by itself" if change == "reboot" else "refused the image: bad signature")


def test_a_node_that_does_not_say_what_it_runs_is_not_there() -> None:
    control = running(units_of(20))
    control.run(lambda rollout: UnitState.FLIPPED in {task.state for task in rollout.tasks.values()})
    (name,) = control.kept.tallies.in_hand
    control.step()
    control.site.change(control.kept.plan.units[name].nodes[0], digest=None)
    for _ in range(12):
        control.step()
        assert control.kept.tasks[name].state is UnitState.OBSERVED
    control.run(lambda rollout: rollout.paused_by is PausedBy.GATE)
    assert control.kept.tasks[name].returned


def test_silence_is_not_good() -> None:
    control = soaking()
    silent = on_new(control)[0]
    for _ in range(16):
        heard = frozenset(control.site.nodes) - {silent}
        control.now += timedelta(minutes=1)
        control.kept, intents = step(control.kept, Observations(heard=heard), control.now)
        for intent in intents:
            control.site.do(intent)
    assert f"{silent}: nothing was heard of it for 0:10:00" in control.kept.why
    assert control.kept.state is RolloutState.RETURNING


def test_a_fatal_error_of_a_new_class_on_two_nodes_stops() -> None:
    control = soaking(400)
    first, second, *_ = on_new(control)
    old = next(node for node, facts in control.site.nodes.items() if facts.digest == OLD)
    for node in (first, second, old):
        control.site.change(node, fatal="xid-79")  # type: ignore[arg-type]  # a name
    control.step()
    assert control.kept.state is RolloutState.RUNNING, "the old release shows it too"
    for node in (first, second):
        control.site.change(node, fatal="xid-95")  # type: ignore[arg-type]  # a name
    returns(control, "xid-95, which no node on the old release shows")


def test_a_spent_error_budget_stops() -> None:
    control = soaking()
    observations = Observations(budgets_spent=frozenset({"scheduler"}))
    rollout, _ = step(control.kept, observations, control.now)
    assert (rollout.state, rollout.why) == (RolloutState.RETURNING, "the error budget of scheduler is spent")


def test_two_failed_units_of_a_small_wave_stop_it_and_everything_goes_back() -> None:
    """Green with many bad nodes is stopped within its canaries, and all nodes are back on blue."""
    control = running(units_of(40), replace(SPEC, canaries_per_kind=4, return_scope=ReturnScope.ALL))
    control.site.defective = set(control.site.nodes)
    least = len(control.site.nodes)
    while control.kept.closed_at is None:
        control.step()
        least = min(least, sum(facts.available for facts in control.site.nodes.values()))
    assert control.kept.state is RolloutState.RETURNED
    assert "2 of 4 units of wave 0 failed" in control.kept.why or "nodes failed" in control.kept.why
    assert {facts.digest for facts in control.site.nodes.values()} == {OLD}
    assert len(control.kept.tasks) == 4
    assert least >= 20


def test_without_an_automatic_return_it_waits_and_what_is_unchanged_goes_back_into_service() -> None:
    control = running(units_of(40), replace(SPEC, canaries_per_kind=4, auto_return=False))
    control.site.defective = set(control.site.nodes)
    control.run(lambda rollout: rollout.paused_by is PausedBy.GATE)
    for _ in range(60):
        control.step()
    assert control.kept.state is RolloutState.PAUSED
    assert control.kept.waves[0].verdict is Verdict.FAIL
    assert not control.kept.tallies.in_hand


def test_a_broken_floor_starts_nothing_and_ends_by_itself() -> None:
    control = running(units_of(10), replace(SPEC, floor=Floor(percent=80)))
    control.step(0)
    control.run(lambda rollout: not rollout.tallies.in_hand)
    nodes = [node for node, facts in control.site.nodes.items() if facts.digest == OLD][:3]
    for node in nodes:
        control.site.change(node, cordons=frozenset({"bob"}))
    for _ in range(60):
        control.step()
        assert not control.kept.tallies.in_hand
    assert control.kept.paused_by is PausedBy.FLOOR
    for node in nodes:
        control.site.change(node, cordons=frozenset())
    assert control.run().state is RolloutState.COMPLETE


def test_a_slow_boot_on_the_new_release_fails_its_wave() -> None:
    control = running(units_of(300), replace(SPEC, metrics=(Metric.BOOT_SECONDS,), caps={}))
    control.step(0)
    for number, node in enumerate(control.site.nodes):
        control.site.change(node, boot_seconds=200.0 + number % 20)

    def is_slow(rollout: Rollout) -> bool:
        for node, facts in list(control.site.nodes.items()):
            if facts.digest == NEW and (facts.boot_seconds or 0) < 300:
                control.site.change(node, boot_seconds=(facts.boot_seconds or 0) + 100)
        return rollout.state is RolloutState.RETURNING

    control.run(is_slow)
    assert "h100: boot_seconds: worse than its control group" in control.kept.why


def test_a_node_that_fails_alone_is_left_behind_where_a_unit_may_run_short() -> None:
    control = running(units_of(12, 18), replace(SPEC, may_run_short=1, burn_in=True))
    node = control.kept.plan.units[control.kept.plan.waves[-1][0]].nodes[5]
    control.site.defective = {node}
    control.run()
    assert control.kept.state is RolloutState.COMPLETE
    assert [facts.digest for facts in control.site.nodes.values()].count(NEW) == 216
    assert "r1" in control.site.nodes[node].cordons
    assert (control.kept.tallies.trials["h100"].nodes, control.kept.tallies.trials["h100"].failed) == (216, 1)


@pytest.mark.parametrize("hours", [-7, 7])
def test_a_clock_that_jumps_ends_no_soak(hours: int) -> None:
    control = soaking()
    before = control.kept.waves[1].soaked
    control.step(hours * 60)
    assert control.kept.waves[1].state is WaveState.SOAKING
    assert control.kept.waves[1].soaked - before <= LONG.longest_tick


def test_a_soak_in_node_hours_waits_for_them() -> None:
    control = running(units_of(20), replace(SPEC, soak=Soak(timedelta(0), node_hours=1.0)))
    control.run(lambda rollout: rollout.waves[0].state is WaveState.SOAKING)
    began = control.now
    control.run(lambda rollout: rollout.waves[0].state is WaveState.CLOSED)
    assert timedelta(minutes=59) < control.now - began < timedelta(minutes=63)


def test_an_older_controller_cannot_take_over() -> None:
    control = running(units_of(10))
    control.restart()
    assert control.kept.epoch == 1
    with pytest.raises(Conflict, match="epoch 0 is over"):
        take_over(control.kept, 0)


def test_abort_finishes_what_is_in_hand_and_takes_no_more() -> None:
    control = running(units_of(20), replace(SPEC, caps={}))
    control.run(lambda rollout: len(rollout.tallies.in_hand) > 2)
    in_hand = set(control.kept.tallies.in_hand)
    control.kept = abort(control.kept, "ann", control.now)
    assert control.run().state is RolloutState.ABORTED
    assert {control.kept.tasks[name].state for name in in_hand} == {UnitState.ON_NEW}
    assert UnitState.ON_OLD not in {task.state for task in control.kept.tasks.values()}


def test_what_was_broken_before_is_not_held_against_the_release() -> None:
    """argoproj/argo-rollouts#1774."""
    units = units_of(20)
    broken = {unit.name for unit in units[:4]}
    control = Controller(Site.of(units), started(units, broken=broken))
    control.site.hopeless = {unit.nodes[0] for unit in units[:4]}
    for node in control.site.hopeless:
        control.site.change(node, healthy=False)
    assert control.run().state is RolloutState.COMPLETE
    assert control.kept.tallies.trials["h100"] == Trials(nodes=16, failed=0)
    assert {control.kept.tasks[name].state for name in broken} == {UnitState.QUARANTINED}


def test_nodes_that_break_on_the_old_release_are_the_control_group() -> None:
    control = soaking(20, 0)
    old = [node for node, facts in control.site.nodes.items() if facts.digest == OLD]
    for node in old[:3]:
        control.site.change(node, healthy=False)
    control.step()
    assert control.kept.tallies.control["h100"] == Trials(nodes=19, failed=3)


crashes = st.lists(st.one_of(st.none(), st.integers(-1, 3)), min_size=1, max_size=40)


@settings(max_examples=40, deadline=None)
@given(crashes, st.booleans(), st.booleans())
def test_crashes_at_any_step_end_where_no_crash_ends(crashes: list[int | None], firmware: bool, bad: bool) -> None:
    """I8: the same end, and one reboot of each node for each time that its unit is taken forth or back."""
    spec = replace(SPEC, to_firmware="fw2" if firmware else None, canaries_per_kind=2)
    ends = []
    for plan in ([None], crashes):
        control = running(units_of(6, 2), spec)
        if bad:
            control.site.defective = {unit.nodes[0] for unit in control.kept.plan.units.values()}
        for number in range(400):
            if control.kept.closed_at is not None:
                break
            crash = plan[number % len(plan)] if number < 120 else None
            if crash is None:
                control.step()
            elif crash < 0:
                control.step_and_die_before_keeping()
            else:
                control.step(deliver=crash)
                control.restart()
        assert control.kept.closed_at is not None
        boots = {node: facts.boot_id for node, facts in control.site.nodes.items()}
        states = {name: task.state for name, task in control.kept.tasks.items()}
        ends.append((control.kept.state, states, boots, {one.digest for one in control.site.nodes.values()}))
    assert ends[0] == ends[1]


def test_nothing_is_outstanding_before_the_first_step_and_quarantine_is_told_again() -> None:
    control = running(units_of(10))
    assert outstanding(control.kept) == ()
    control.site.hopeless = set(control.site.nodes)
    control.run(lambda rollout: UnitState.QUARANTINED in {task.state for task in rollout.tasks.values()})
    assert [intent.action.value for intent in outstanding(control.kept)] == ["quarantine"]
