"""A controller takes over from one that may be dead, or only slow. Pure."""

from dataclasses import replace

from provisioner.errors import Conflict
from provisioner.rollout.intent import Action, Intent
from provisioner.rollout.state import AT_REST, Rollout, UnitState
from provisioner.rollout.work import Work


def take_over(rollout: Rollout, epoch: int) -> Rollout:
    """The rollout in the hands of the controller with this epoch. Raises `Conflict` where a later one has it."""
    if epoch < rollout.epoch:
        raise Conflict(f"{rollout.plan.spec.name}: epoch {epoch} is over: a controller with {rollout.epoch} has it")
    return replace(rollout, epoch=epoch)


def outstanding(rollout: Rollout) -> tuple[Intent, ...]:
    """Everything that was asked for and not seen done: the same effects, with the epoch of today's controller."""
    if rollout.stepped_at is None:
        return ()
    work = Work(rollout, rollout.stepped_at)
    for task in rollout.tasks.values():
        if task.state not in AT_REST:
            work.ask(task)
        kept_out = work.nodes_of(task.unit) if task.state is UnitState.QUARANTINED else tuple(sorted(task.quarantined))
        if kept_out:
            work.intents.append(work.intent(task, Action.QUARANTINE, kept_out))
    return tuple(work.intents)
