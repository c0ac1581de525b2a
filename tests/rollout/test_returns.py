"""The way back: what goes with it, what is left behind, and what it says while it waits."""

from dataclasses import replace

import pytest

from provisioner.models.identifiers import NodeName
from provisioner.rollout.intent import Action
from provisioner.rollout.people import send_back
from provisioner.rollout.spec import Floor, ReturnScope
from provisioner.rollout.state import PausedBy, RolloutState, UnitState, WaveState
from provisioner.rollout.telling import told
from provisioner.rollout.unit import UnitName
from tests.rollout.site import NEW, OLD, SPEC, Controller, digests, has, running, units_of


def canary(control: Controller, place: int = 0) -> UnitName:
    return control.kept.plan.waves[0][place]


def nodes_of(control: Controller, name: UnitName) -> tuple[NodeName, ...]:
    return control.kept.plan.units[name].nodes


@pytest.mark.parametrize("short", [0, 1])
def test_one_node_that_fails_on_both_releases_keeps_its_unit_from_nothing(short: int) -> None:
    """One broken node of 18 put the whole unit in quarantine, whatever the unit may run short of."""
    control = running(units_of(12, 18), replace(SPEC, may_run_short=short))
    first, *others = nodes_of(control, canary(control))
    control.site.hopeless = {first}
    control.site.defective = set(others)
    assert control.run().state is RolloutState.NEEDS_HUMAN
    assert control.kept.why.endswith(f"in quarantine: {first}")
    task = control.kept.tasks[canary(control)]
    assert (task.state, task.quarantined) == (UnitState.ON_OLD, frozenset({first}))
    assert digests(control) == {OLD}
    assert {node for node, facts in control.site.nodes.items() if not facts.available} == {first}
    assert [one.nodes for one in control.site.log if one.action is Action.QUARANTINE][-1] == (first,)


def test_a_unit_of_which_no_node_works_is_in_quarantine_whole() -> None:
    control = running(units_of(12, 3))
    control.site.hopeless = set(nodes_of(control, canary(control)))
    control.run(lambda rollout: rollout.paused_by is PausedBy.GATE)
    control.kept = send_back(control.kept, "ann", control.now)
    assert control.run().state is RolloutState.NEEDS_HUMAN
    assert control.kept.tasks[canary(control)].state is UnitState.QUARANTINED
    assert control.kept.why.endswith("in quarantine: " + ", ".join(sorted(control.site.hopeless)))


def test_nodes_that_are_still_at_it_are_not_left_behind_with_one_that_has_failed() -> None:
    """Their time is not up."""
    control = running(units_of(12, 3), replace(SPEC, tries=1))
    bad, slow, good = nodes_of(control, canary(control))
    control.run(has(UnitState.ON_NEW))
    control.site.hopeless = {bad}
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    control.run(has(UnitState.RETURN_REBOOTING))
    control.site.deaf = {Action.CHECK}
    control.run(has(UnitState.RETURN_CHECKED))
    (check,) = [one for one in control.step() or control.site.log[-1:] if one.action is Action.CHECK]
    control.site.deaf = set()
    control.site.do(replace(check, nodes=(bad, good)))
    control.step()
    task = control.kept.tasks[canary(control)]
    assert (task.state, task.quarantined) == (UnitState.RETURN_CHECKED, frozenset({bad}))
    assert control.run().state is RolloutState.NEEDS_HUMAN
    assert control.site.nodes[slow].available


def gone_short() -> Controller:
    """The first unit runs the new release without one of its nodes."""
    control = running(units_of(12, 3), replace(SPEC, may_run_short=1))
    bad = nodes_of(control, canary(control))[1]
    control.site.defective = {bad}
    control.run(has(UnitState.ON_NEW))
    assert control.kept.tasks[canary(control)].quarantined == {bad}
    return control


def test_a_node_left_behind_on_the_way_forth_goes_back_with_its_unit() -> None:
    """It stayed on the new release, cordoned, while all others had gone back."""
    control = gone_short()
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    assert control.run().state is RolloutState.RETURNED
    assert {(facts.digest, facts.available) for facts in control.site.nodes.values()} == {(OLD, True)}
    assert control.kept.tasks[canary(control)].quarantined == set()


def test_a_node_left_behind_stays_so_where_the_way_back_is_given_up() -> None:
    """The jobs of its unit do not end: the unit serves on the new release as before, without the node."""
    control = gone_short()
    bad, others = nodes_of(control, canary(control))[1], {0, 2}
    for place in others:
        node = nodes_of(control, canary(control))[place]
        control.site.busy.add(node)
        control.site.change(node, jobs=1)
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    control.run(lambda rollout: rollout.tasks[canary(control)].deferrals > 0 and not rollout.tallies.in_hand)
    assert control.kept.paused_by is PausedBy.BLOCKED
    assert "; the return waits: " in control.kept.why
    assert "it is tried again later" in control.kept.why
    assert "r1" in control.site.nodes[bad].cordons
    for place in others:
        assert control.site.nodes[nodes_of(control, canary(control))[place]].available


def test_a_node_that_was_repaired_after_the_end_is_drained_with_its_unit_when_that_goes_back() -> None:
    """The rollout was complete, and the node given back: it has jobs. The site refuses resets of nodes that serve."""
    control = gone_short()
    bad = nodes_of(control, canary(control))[1]
    control.site.defective = set()
    assert control.run(lambda rollout: rollout.paused_by is PausedBy.GATE or rollout.closed_at is not None)
    control.site.change(bad, cordons=frozenset(), holder=None, jobs=1)
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    assert control.run().state is RolloutState.RETURNED
    assert digests(control) == {OLD}


def without_room() -> Controller:
    """Two units of two nodes go back, two nodes may be out, and one node of the first fails on both releases."""
    control = running(units_of(10, 2), replace(SPEC, floor=Floor(percent=90), canaries_per_kind=2))
    control.run(lambda rollout: rollout.waves[0].state is WaveState.SOAKING)
    control.site.hopeless = {nodes_of(control, canary(control))[0]}
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    return control


def test_a_return_that_quarantine_leaves_no_room_for_ends_and_names_the_nodes() -> None:
    """I7: it stayed in silence, returning, with nothing in hand."""
    control = without_room()
    bad = nodes_of(control, canary(control))[0]
    ended = control.run()
    assert ended.state is RolloutState.NEEDS_HUMAN
    assert "returned by ann; 1 units of h100 still run the new release, and none may leave service" in ended.why
    assert "19 of 20 nodes serve, the floor is 18, and the smallest unit has 2 that do" in ended.why
    assert f"out of service are {bad}: put them right, then return it again; in quarantine: {bad}" in ended.why
    assert digests(control) == {OLD, NEW}
    control.site.hopeless = set()
    control.site.change(bad, healthy=True, cordons=frozenset(), holder=None)
    control.kept = send_back(ended, "ann", control.now, ReturnScope.ALL)
    assert control.run().closed_at is not None
    assert digests(control) == {OLD}


def test_a_return_that_others_leave_no_room_for_says_so_and_goes_on_when_they_are_back() -> None:
    control = running(units_of(10, 2), replace(SPEC, floor=Floor(percent=90), canaries_per_kind=2))
    control.run(lambda rollout: rollout.waves[0].state is WaveState.SOAKING)
    old = next(node for node, facts in control.site.nodes.items() if facts.digest == OLD)
    control.site.change(old, cordons=frozenset({"bob"}))
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    before = control.kept
    control.step()
    waits = control.kept
    assert (waits.state, waits.paused_by) == (RolloutState.RETURNING, PausedBy.FLOOR)
    assert "returned by ann; the return waits: 2 units of h100 still run the new release" in waits.why
    assert f"out of service are {old}" in waits.why
    assert [line for line in told(before, waits) if line.startswith("returning, held up by floor: ")]
    control.step()
    assert control.kept.why == waits.why
    control.site.change(old, cordons=frozenset())
    assert control.run().state is RolloutState.RETURNED
    assert control.kept.why == "returned by ann"


def test_a_return_that_waits_for_somebody_names_them() -> None:
    control = running(units_of(10, 2))
    control.run(has(UnitState.ON_NEW))
    node = nodes_of(control, canary(control))[0]
    control.site.change(node, cordons=frozenset({"bob"}))
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    control.step()
    assert control.kept.paused_by is PausedBy.BLOCKED
    assert control.kept.why == f"returned by ann; the return waits: {node}: cordoned by bob: let them uncordon it"
