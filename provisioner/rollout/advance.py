"""Bring units in hand one state further, as far as what was observed carries them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from provisioner.models.identifiers import NodeName
from provisioner.rollout.intent import Action
from provisioner.rollout.observation import Failure
from provisioner.rollout.route import ACTIONS, PROOFS, following
from provisioner.rollout.spec import Spec
from provisioner.rollout.state import (
    AT_REST,
    UNCHANGED,
    Heading,
    PausedBy,
    RolloutState,
    UnitState,
    UnitTask,
)
from provisioner.rollout.trials import count_broken, count_failed_unit, count_trials
from provisioner.rollout.unit import UnitName
from provisioner.rollout.windows import fits
from provisioner.rollout.work import Work, sound

_REBOOTS = frozenset({UnitState.REBOOTING, UnitState.RETURN_REBOOTING})
_ON_NEW_IMAGE = frozenset({UnitState.REBOOTING, UnitState.OBSERVED, UnitState.CHECKED, UnitState.BURNED_IN})


def advance(work: Work, name: UnitName, *, fresh: bool = False) -> None:
    """Go on until something has to be waited for. `fresh`: the unit has just come to its state: ask for it."""
    while (task := work.tasks[name]).state not in AT_REST:
        lacking = _lacking(work, task)
        if lacking:
            if fresh:
                work.ask(task)
                return
            failing, why = _trouble(work, task, lacking)
            if not failing:
                return
            _try_again_or_give_up(work, task, failing, why)
            if work.tasks[name].state is task.state and work.tasks[name].quarantined == task.quarantined:
                return
        elif task.state is UnitState.DRAINED and (reason := _reason_to_turn_round(work, task)):
            cancel(work, task, reason, deferred=False)
        else:
            enter(work, task, following(work.spec, task))
        fresh = True


def enter(work: Work, task: UnitTask, state: UnitState) -> None:
    """Start on a state; or end, where it is a state to rest in."""
    if state in AT_REST:
        _settle(work, task, state)
        return
    deadline = work.clock + (work.spec.deadline(ACTIONS[state]) if state in ACTIONS else timedelta(0))
    boot_ids, booted = task.boot_ids, task.booted
    if state is UnitState.RETURN_FLIPPED and task.quarantined:
        task = replace(task, quarantined=frozenset(one for one in task.quarantined if not _is_out(work, one)))
    if state in _REBOOTS:
        boot_ids, booted = _boot_ids(work, task), {}
    elif state is UnitState.OBSERVED:
        booted = _boot_ids(work, task)
    applied = task.firmware_applied or state is _applies_firmware(work.spec)
    work.move(task.entering(state, deadline=deadline, boot_ids=boot_ids, booted=booted, firmware_applied=applied))


def _applies_firmware(spec: Spec) -> UnitState | None:
    if spec.to_firmware is None:
        return None
    return UnitState.REBOOTING if spec.firmware_by_reboot else UnitState.FW_APPLIED


def _boot_ids(work: Work, task: UnitTask) -> Mapping[NodeName, str]:
    return {node: work.facts[node].boot_id for node in work.members_of(task) if node in work.facts}


def cancel(work: Work, task: UnitTask, why: str, *, deferred: bool) -> None:
    """Back into service, unchanged. `deferred`: it is tried again later, as often as it takes (okd-project/okd#593)."""
    work.forget_asked(task.unit)
    if deferred:
        later = work.clock + work.spec.drain_deadline
        task = replace(task, deferrals=task.deferrals + 1, not_before=later)
    task = replace(task, heading=Heading.CANCELLED, generation=task.generation + 1, why=why)
    enter(work, task, UnitState.UNCORDONED)


def turn_back(work: Work, task: UnitTask, why: str) -> None:
    """Back to the old release; quarantine where there is no way back.

    What is being given back may serve already: it is taken out of service again, like one that serves.
    """
    work.forget_asked(task.unit)
    task = replace(task, why=why, generation=task.generation + 1)
    if not may_return(work.spec, task):
        _quarantine(work, replace(task, why=f"{why}; the old image does not run on the new firmware"))
    elif task.state is UnitState.UNCORDONED:
        enter(work, replace(task, heading=Heading.TO_OLD, origin=UnitState.ON_NEW), UnitState.RESERVED)
    else:
        enter(work, replace(task, heading=Heading.TO_OLD), UnitState.RETURN_FLIPPED)


def _is_out(work: Work, node: NodeName) -> bool:
    """Left behind on the way forth, and as we left it: it goes back with its unit."""
    facts, ours = work.facts.get(node), work.spec.name
    return facts is not None and facts.holder == ours and ours in facts.cordons and not facts.jobs


def may_return(spec: Spec, task: UnitTask) -> bool:
    """Irreversible firmware leaves a way back only to an image that runs on it."""
    return not (spec.irreversible and task.firmware_applied) or spec.old_image_on_new_firmware


def fail(work: Work, task: UnitTask, failing: Sequence[NodeName], why: str) -> None:
    """The new release failed on the unit: count it, and take the unit back."""
    count_trials(work, task, len(task.quarantined) + _failures(work, failing))
    count_failed_unit(work, task)
    turn_back(work, replace(task, failed=True), why)


def _failures(work: Work, nodes: Sequence[NodeName]) -> int:
    """Nodes whose BMC is gone have lost what they all hang on: that is one failure."""
    lost = sum(node in work.facts and not work.facts[node].managed for node in nodes)
    return len(nodes) - lost + (lost > 0)


def _lacking(work: Work, task: UnitTask) -> list[NodeName]:
    aim, facts, is_there = work.aim_of(task), work.facts, PROOFS[task.state]
    return [
        node for node in work.members_of(task) if (seen := facts.get(node)) is None or not is_there(aim, node, seen)
    ]


def _trouble(work: Work, task: UnitTask, lacking: Sequence[NodeName]) -> tuple[Sequence[NodeName], str]:
    """Nodes that failed at what is done now, and how; all that lack it once the time is up. None where it may come."""
    over = work.clock >= task.deadline
    for node in lacking:
        failure = _failure(work, task, node)
        if failure is not None:
            failing = lacking if over else [one for one in lacking if _failure(work, task, one)]
            return failing, f"{node}: {failure.action}: {failure.why}"
    if over:
        return lacking, f"{lacking[0]}: {ACTIONS[task.state]} did not end in time, of {len(lacking)} nodes"
    return (), ""


def _failure(work: Work, task: UnitTask, node: NodeName) -> Failure | None:
    failure = work.facts[node].failure if node in work.facts else None
    if failure is None or failure.action is not ACTIONS.get(task.state):
        return None
    return failure if (failure.attempt, failure.generation) == (task.attempt, task.generation) else None


def _try_again_or_give_up(work: Work, task: UnitTask, failing: Sequence[NodeName], why: str) -> None:
    back_in = task.state is UnitState.UNCORDONED
    drains = task.state is UnitState.DRAINING
    if back_in or (task.attempt < work.spec.tries and not drains):
        deadline = work.clock + work.spec.deadline(ACTIONS[task.state])
        task = replace(task, attempt=task.attempt + 1, deadline=deadline, why=why)
        work.move(task)
        work.ask(task)
    elif task.state in UNCHANGED:
        cancel(work, task, why, deferred=True)
    elif _may_go_on_without(work, task, failing):
        _go_on_without(work, task, failing, why)
    elif task.heading is Heading.TO_OLD:
        _quarantine(work, replace(task, why=f"{why}; neither release works on it: look at it, it stays up"))
    else:
        fail(work, task, failing, why)


def _may_go_on_without(work: Work, task: UnitTask, failing: Sequence[NodeName]) -> bool:
    """On the way back as long as one node works: the rest is to serve, however short it runs."""
    left = len(work.members_of(task)) - len(failing)
    if task.heading is Heading.TO_OLD:
        return left > 0
    return (
        task.state in _ON_NEW_IMAGE
        and left > 0
        and len(task.quarantined) + len(failing) <= work.spec.may_run_short
        and work.state is not RolloutState.RETURNING
    )


def _go_on_without(work: Work, task: UnitTask, lacking: Sequence[NodeName], why: str) -> None:
    work.move(replace(task, quarantined=task.quarantined | set(lacking), why=why))
    work.intents.append(work.intent(task, Action.QUARANTINE, lacking))


def _quarantine(work: Work, task: UnitTask) -> None:
    work.move(replace(task, state=UnitState.QUARANTINED, attempt=1))
    work.intents.append(work.intent(task, Action.QUARANTINE, work.nodes_of(task.unit)))


def _reason_to_turn_round(work: Work, task: UnitTask) -> str | None:
    """Asked once, before anything of the unit is changed."""
    if task.heading is not Heading.TO_NEW:
        return None
    if work.superseded or work.state is RolloutState.RETURNING or work.paused_by is PausedBy.GATE:
        return "the rollout does not go on"
    if work.spec.windows and not fits(work.spec.windows, work.now, work.spec.worst_case(drained=True)):
        return "what is left of it no longer fits the window"
    return None


def _settle(work: Work, task: UnitTask, state: UnitState) -> None:
    cancelled = task.heading is Heading.CANCELLED
    if task.heading is Heading.TO_NEW:
        count_trials(work, task, len(task.quarantined))
    returned = task.returned or task.heading is Heading.TO_OLD
    work.move(replace(task, state=state, attempt=1, returned=returned))
    if task.heading is Heading.TO_NEW:
        count_broken(work, [node for node in work.members_of(task) if not sound(work.facts[node])])
    goes_again = {RolloutState.RETURNING: UnitState.ON_NEW, RolloutState.ABORTED: None}
    if cancelled and task.origin is goes_again.get(work.state, UnitState.ON_OLD):
        work.pending[task.unit] = None
    returning = work.state is RolloutState.RETURNING and task.wave >= work.return_from_wave
    if returning and state is UnitState.ON_NEW and may_return(work.spec, task):
        work.pending[task.unit] = None  # it was being given back when the return began
