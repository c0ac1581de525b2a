"""What went wrong in public with releases: gates, returns, successors. One case each; its docstring is the thread."""

from dataclasses import replace
from datetime import timedelta

import pytest

from provisioner.errors import Conflict
from provisioner.rollout.people import (
    abort,
    approve,
    approve_irreversible,
    decide,
    draft,
    resume,
    send_back,
    start,
    supersede,
)
from provisioner.rollout.pins import pinned
from provisioner.rollout.plan import plan
from provisioner.rollout.spec import ReturnScope, Soak
from provisioner.rollout.state import GateKey, PausedBy, Rollout, RolloutState, UnitState, Verdict, WaveState
from tests.rollout.site import (
    MINUTE,
    NEW,
    OLD,
    OTHER,
    SPEC,
    Controller,
    Site,
    digests,
    has,
    running,
    started,
    states,
    units_of,
)


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


def test_what_is_being_given_back_is_taken_out_of_service_again_before_it_returns() -> None:
    """Found on a rack: the lease was gone already, and jobs might have started. The site refuses such a reboot."""
    control = running(units_of(10))
    control.run(has(UnitState.UNCORDONED))
    control.kept = send_back(control.kept, "ann", control.now, ReturnScope.ALL)
    assert control.run().state is RolloutState.RETURNED
    assert digests(control) == {OLD}
