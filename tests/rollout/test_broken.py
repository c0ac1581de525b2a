"""Nodes that break in service: what they say of the new release, and what of the old one."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from provisioner.models.identifiers import NodeName
from provisioner.rollout.intent import Action
from provisioner.rollout.people import send_back
from provisioner.rollout.spec import ReturnScope, Soak
from provisioner.rollout.state import Rollout, RolloutState, Trials, UnitState, WaveState
from provisioner.rollout.unit import Domain, DomainKind, Unit, UnitName
from tests.rollout.site import OLD, SPEC, Controller, running, units_of

LONG = replace(SPEC, soak=Soak(timedelta(hours=3)), may_run_short=2, canaries_per_kind=3)
KIND = "h100"


def watched(units: Iterable[Unit] = (), **spec: int) -> Controller:
    """The canaries, of 18 nodes each, are on the new release and are watched."""
    control = running(list(units) or units_of(30, 18), replace(LONG, **spec))  # type: ignore[arg-type]  # mypy does not look into the keywords of replace
    control.run(lambda rollout: rollout.waves[0].state is WaveState.SOAKING)
    return control


def nodes_of(control: Controller, place: int) -> tuple[NodeName, ...]:
    """Of one of the canaries."""
    return control.kept.plan.units[control.kept.plan.waves[0][place]].nodes


def breaks(control: Controller, *nodes: NodeName) -> None:
    for node in nodes:
        control.site.change(node, healthy=False)
    control.step()


def powered(units: Iterable[Unit], per_domain: int) -> list[Unit]:
    """As many units in each power domain."""
    return [
        replace(unit, domains=frozenset({Domain(DomainKind.POWER, f"power{place // per_domain}")}))
        for place, unit in enumerate(units)
    ]


def test_a_release_that_breaks_nodes_after_their_check_is_stopped_by_the_same_test() -> None:
    control = watched()
    for place in range(3):
        for node in nodes_of(control, place)[:2]:
            if control.kept.state is RolloutState.RUNNING:
                breaks(control, node)
    assert control.kept.state is RolloutState.RETURNING
    assert control.kept.why == "h100: 6 of 54 nodes failed, and 0 of 486 of its control group"
    assert control.run().state is RolloutState.RETURNED
    assert {facts.digest for facts in control.site.nodes.values()} == {OLD}


def test_nodes_of_a_closed_wave_that_break_are_counted_too() -> None:
    control = watched()
    control.run(lambda rollout: rollout.waves[1].state is WaveState.SOAKING)
    breaks(control, nodes_of(control, 0)[0])
    assert control.kept.tallies.trials[KIND].failed == 1
    assert control.kept.waves[0].state is WaveState.CLOSED


def test_a_node_counts_once_however_often_it_breaks_and_stays_counted_when_it_is_well() -> None:
    control = watched()
    node = nodes_of(control, 0)[0]
    for healthy in (False, True, False, True):
        control.site.change(node, healthy=healthy)
        control.step()
        assert control.kept.tallies.trials[KIND] == Trials(54, 1)
    assert control.kept.tallies.broken == {node: True}
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    control.run()
    assert control.kept.tallies.broken == {}, "the next turn of its unit is another one"


def test_what_was_broken_before_or_is_left_behind_already_does_not_count_again() -> None:
    control = running(units_of(30, 18), LONG)
    names = control.kept.plan.waves[0]
    dead, short, _ = (nodes_of(control, place) for place in range(3))
    for node in dead:
        control.site.change(node, healthy=False)
    control.site.defective = {short[0]}
    control.run(lambda rollout: rollout.waves[0].state is WaveState.SOAKING)
    assert [control.kept.tasks[name].was_broken for name in names] == [True, False, False]
    assert control.kept.tallies.trials[KIND] == Trials(36, 1)
    breaks(control, dead[0], short[0])
    assert control.kept.tallies.trials[KIND] == Trials(36, 1)


def test_a_unit_that_fails_short_of_a_node_has_failed_with_that_one_too() -> None:
    control = running(units_of(30, 18), replace(LONG, burn_in=True, may_run_short=1, tries=1, canaries_per_kind=1))
    first = nodes_of(control, 0)
    control.site.defective = {first[0]}
    control.site.deaf = {Action.BURN_IN}
    name = control.kept.plan.waves[0][0]
    control.run(lambda rollout: name in rollout.tasks and rollout.tasks[name].state is UnitState.BURNED_IN)
    assert control.kept.tasks[name].quarantined == {first[0]}
    control.run(lambda rollout: rollout.tasks[name].failed)
    assert control.kept.tallies.trials[KIND] == Trials(18, 18)


def test_a_node_that_breaks_between_its_check_and_its_return_to_service_is_counted() -> None:
    control = running(units_of(30, 18), LONG)

    def breaks_at_its_label(rollout: Rollout) -> bool:
        ready = [name for name, task in rollout.tasks.items() if task.state is UnitState.UNCORDONED]
        for name in ready[:1]:
            control.site.change(control.kept.plan.units[name].nodes[0], healthy=False)
        return bool(ready)

    control.run(breaks_at_its_label)
    control.run(lambda rollout: UnitState.ON_NEW in {task.state for task in rollout.tasks.values()})
    assert control.kept.tallies.trials[KIND].failed == 1


def test_two_units_of_a_small_wave_that_lose_more_than_they_may_run_short_of_stop_it() -> None:
    control = watched(units_of(30, 18), may_run_short=0)
    breaks(control, nodes_of(control, 0)[0])
    assert (control.kept.state, control.kept.waves[0].failed_units) == (RolloutState.RUNNING, 1)
    breaks(control, nodes_of(control, 0)[1])
    assert control.kept.waves[0].failed_units == 1, "it has failed already"
    breaks(control, nodes_of(control, 1)[0])
    assert control.kept.state is RolloutState.RETURNING
    assert control.kept.why == "2 of 3 units of wave 0 failed"


def test_failures_leave_the_control_group_with_their_unit() -> None:
    """288 of 0 had failed once: nodes left when their unit was taken, and what had failed stayed."""
    control = watched()
    last = control.kept.plan.units[control.kept.plan.waves[-1][-1]].nodes
    breaks(control, *last[:3])
    assert control.kept.tallies.control[KIND] == Trials(486, 3)
    control.site.change(last[0], healthy=True)
    control.site.remove(last[1])
    control.step()
    assert control.kept.tallies.control[KIND] == Trials(485, 2)
    control.run()
    assert control.kept.tallies.control[KIND] == Trials(0, 0)
    assert control.kept.tallies.broken == {}


def test_an_outage_is_one_failure_of_each_side() -> None:
    """Units 0 to 9 hang on one fuse: those of the new release among them, and those of the control group."""
    control = watched(powered(units_of(30, 18), 10))
    struck = [unit for unit in control.kept.plan.units.values() if Domain(DomainKind.POWER, "power0") in unit.domains]
    breaks(control, *(node for unit in struck for node in unit.nodes))
    new = sum(unit.name in control.kept.tasks for unit in struck)
    assert 0 < new < 10
    assert control.kept.tallies.trials[KIND] == Trials(54, 1)
    assert control.kept.tallies.control[KIND] == Trials(486, 1)
    assert control.kept.state is not RolloutState.RETURNING
    assert control.kept.waves[0].failed_units == 1, "the nodes are lost all the same; of several units one has failed"
    for unit in struck[:-1]:
        assert control.kept.tallies.broken.keys() >= set(unit.nodes)


def test_a_rack_that_fails_with_its_power_domain_is_the_same_event() -> None:
    """Racks 0 and 1 have a power domain in common, 1 and 2 another one: by way of rack 1 it is one event."""
    units = [
        replace(unit, domains=frozenset({Domain(DomainKind.RACK, unit.name), *feeds}))
        for unit, feeds in zip(
            units_of(30, 18),
            [
                {Domain(DomainKind.POWER, "a")},
                {Domain(DomainKind.POWER, "a"), Domain(DomainKind.POWER, "b")},
                {Domain(DomainKind.POWER, "b")},
                *[set[Domain]()] * 27,
            ],
            strict=True,
        )
    ]
    control = running(units, replace(LONG, canaries_per_kind=1))
    control.step(0)
    first = control.kept.plan.waves[0][0]
    names = [UnitName(f"u000{place}") for place in (0, 1, 2, 3) if f"u000{place}" != first]
    breaks(control, *(node for name in names for node in control.kept.plan.units[name].nodes[:5]))
    events = 2 if UnitName("u0003") in names else 1
    assert control.kept.tallies.control[KIND].failed == events


def test_nodes_of_different_domains_that_break_at_once_are_counted_one_by_one() -> None:
    control = watched(powered(units_of(30, 18), 1))
    breaks(control, *(nodes_of(control, place)[0] for place in range(3)))
    assert control.kept.tallies.trials[KIND] == Trials(54, 3)


def test_an_outage_that_hits_a_defect_does_not_hide_it() -> None:
    """With 144 failures in its control group a tenth of bad nodes would have counted as usual."""
    control = watched(powered(units_of(30, 18), 8))
    old = [unit for unit in control.kept.plan.units.values() if unit.name not in control.kept.tasks][:6]
    breaks(control, *(node for unit in old for node in unit.nodes))
    assert control.kept.tallies.control[KIND] == Trials(486, 1)
    for place in (0, 1, 2, 0, 1, 2):
        if control.kept.state is not RolloutState.RETURNING:
            fresh = [node for node in nodes_of(control, place) if control.site.nodes[node].healthy]
            breaks(control, fresh[0])
    assert control.kept.state is RolloutState.RETURNING
    assert "6 of 54 nodes failed, and 1 of 486" in control.kept.why


def test_a_bmc_that_is_lost_takes_all_nodes_of_a_unit_in_hand_along_as_one_failure() -> None:
    """They do not come up for want of power: that says as much of the release as one node."""
    control = running(units_of(30, 18), LONG)
    control.run(lambda rollout: UnitState.FLIPPED in {task.state for task in rollout.tasks.values()})
    (name,) = [name for name, task in control.kept.tasks.items() if task.state is UnitState.FLIPPED][:1]
    for node in control.kept.plan.units[name].nodes:
        control.site.change(node, managed=False, healthy=False, digest=None)
        control.site.hopeless.add(node)
    control.run(lambda rollout: rollout.tasks[name].failed)
    assert control.kept.tallies.trials[KIND].failed == 1
