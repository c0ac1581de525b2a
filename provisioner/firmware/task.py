"""What a look at a BMC's task means. Pure. States and failures as DMTF's Task schema and open-nvfwupd list them."""

from enum import StrEnum

from provisioner.models.inventory import Task

_FAILED = frozenset({"Cancelled", "Cancelling", "Exception", "Interrupted", "Killed", "Stopping", "Suspended"})


class TaskVerdict(StrEnum):
    """What to do after a look at a task."""

    RUNNING = "running"
    FAILED = "failed"
    JUDGE_BY_VERSION = "judge_by_version"
    """Done as far as the task says; only the running version decides."""


def judge_task(task: Task | None) -> TaskVerdict:
    """None: the BMC has forgotten the task, which happens after success as well as after failure."""
    if task is None:
        return TaskVerdict.JUDGE_BY_VERSION
    if task.state in _FAILED:
        return TaskVerdict.FAILED
    if task.state == "Completed":
        return TaskVerdict.FAILED if task.status == "Critical" else TaskVerdict.JUDGE_BY_VERSION
    return TaskVerdict.RUNNING


def waits_for_reset(task: Task) -> bool:
    """Scheduled until the next reset, as jobs of iDRAC are: nothing more happens before."""
    return task.state == "Pending"


def ours(task: Task, targets: tuple[str, ...]) -> bool:
    """The task was made for exactly these targets."""
    return bool(task.targets) and frozenset(task.targets) == frozenset(targets)


def flashes(task: Task) -> bool:
    """An update that is at work now, of whatever parts. One that waits for a reset (`Pending`) is not."""
    return is_update(task) and not waits_for_reset(task) and judge_task(task) is TaskVerdict.RUNNING


def is_update(task: Task) -> bool:
    """It was made by a request to the update service, names what it flashes, or is called an update.

    BMCs hide payloads, and other tasks (logs, BIOS settings) are none of an update's business.
    """
    words = task.name.casefold()
    return bool(task.targets) or "/updateservice" in task.request.casefold() or "update" in words or "firmware" in words


def may_run_for(task: Task, targets: tuple[str, ...]) -> bool:
    """The task runs and touches one of these targets, or does not say what it touches: no reset while it does."""
    touches = not task.targets or not frozenset(task.targets).isdisjoint(targets)
    return judge_task(task) is TaskVerdict.RUNNING and touches
