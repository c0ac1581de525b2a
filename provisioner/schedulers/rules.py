"""What may be done to a node in which somebody may have a cordon: the same for every scheduler. Pure."""

from datetime import datetime, timedelta
from enum import StrEnum

from provisioner.errors import SchedulerError
from provisioner.models.identifiers import NodeName
from provisioner.models.scheduling import (
    CheckpointThenRequeue,
    DrainPolicy,
    Force,
    Job,
    OurReason,
    SchedulerView,
    WaitForJobs,
)


def must_be_cordoned(scheduler: str, node: NodeName, view: SchedulerView, reason: OurReason) -> bool:
    """Whether to write our cordon: not over somebody else's, and not where it stands. Raises `SchedulerError`."""
    _must_be_known(scheduler, node, view)
    ours = _ours(scheduler, node, view, reason)
    if ours is not None:
        return ours.epoch < reason.epoch
    return not view.cordons


def may_be_lifted(scheduler: str, node: NodeName, view: SchedulerView, reason: OurReason) -> bool:
    """Whether the cordon of this rollout is there, and the node can take jobs. Raises `SchedulerError`."""
    _must_be_known(scheduler, node, view)
    if _ours(scheduler, node, view, reason) is None:
        return False
    if view.away:
        remedy = "see that it runs on the node; then uncordon again"
        raise SchedulerError(scheduler, f"{node} is not given back: {view.away}", remedy)
    return True


def must_be_ours(scheduler: str, node: NodeName, view: SchedulerView, reason: OurReason) -> None:
    """Before anything is done to its jobs, or to itself. Raises `SchedulerError`."""
    _must_be_known(scheduler, node, view)
    foreign = view.vetoes(reason.rollout)
    if foreign or _ours(scheduler, node, view, reason) is None:
        who = "; ".join(str(one) for one in foreign) or "nobody"
        remedy = "whoever has cordoned it lifts that, or the rollout leaves this node out"
        raise SchedulerError(scheduler, f"{node} is not ours to drain, it is cordoned by {who}", remedy)


def must_be_drained(scheduler: str, node: NodeName, view: SchedulerView, reason: OurReason) -> None:
    """Before a reboot. Raises `SchedulerError`."""
    must_be_ours(scheduler, node, view, reason)
    if view.jobs or view.busy:
        left = ", ".join(str(job) for job in view.jobs) or "something that we may not see"
        why = "; ".join(view.blocked)
        remedy = why or "drain it first"
        raise SchedulerError(scheduler, f"{node} is not drained: {left} runs there", remedy)


class Due(StrEnum):
    """What is to be done to one job now."""

    NOTHING = "nothing"
    SIGNAL = "signal"
    REQUEUE = "requeue"
    END = "end"


def due(policy: DrainPolicy, signalled_at: datetime | None, now: datetime) -> Due:
    """`signalled_at`: when the job was told to save its work, if it was."""
    match policy:
        case WaitForJobs():
            return Due.NOTHING
        case CheckpointThenRequeue():
            if signalled_at is None:
                return Due.SIGNAL
            return Due.REQUEUE if now - signalled_at >= policy.grace else Due.NOTHING
        case Force():
            return Due.END


def overdue(policy: DrainPolicy, jobs: tuple[Job, ...], now: datetime) -> tuple[str, ...]:
    """What to say of jobs that run on when the deadline has passed."""
    if not isinstance(policy, WaitForJobs) or policy.until is None or now < policy.until:
        return ()
    late = timedelta(seconds=int((now - policy.until).total_seconds()))
    remedy = "ask its owner, give it more time, or drain with another policy"
    return tuple(f"{job} still runs {late} after the deadline: {remedy}" for job in jobs)


def _must_be_known(scheduler: str, node: NodeName, view: SchedulerView) -> None:
    if view.unknown:
        raise SchedulerError(scheduler, f"{node}: {view.unknown}", "correct its name or the scheduler's list of nodes")


def _ours(scheduler: str, node: NodeName, view: SchedulerView, reason: OurReason) -> OurReason | None:
    ours = view.ours(reason.rollout)
    if ours is not None and ours.epoch > reason.epoch:
        problem = f"{node}: rollout {reason.rollout} has epoch {ours.epoch} there, this order has {reason.epoch}"
        raise SchedulerError(scheduler, problem, "another controller has taken over: read the rollout again")
    return ours
