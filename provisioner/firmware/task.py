"""What a look at a BMC's task means. Pure. States and failures as DMTF's Task schema and open-nvfwupd list them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
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


def its_own(tasks: Sequence[Task], targets: Sequence[str], before: Collection[str]) -> Task | None:
    """The task of an update that was sent, found in the BMC's list (metal-toolbox/bmclib#399).

    One that was not there before and names these targets, else the only new update that names none; where `targets`
    is empty, the only new update.
    """
    new = [task for task in tasks if task.uri not in before and is_update(task)]
    mine = [task for task in new if ours(task, tuple(targets))] or [task for task in new if not task.targets]
    mine = mine if targets or mine else new
    running = [task for task in mine if judge_task(task) is TaskVerdict.RUNNING]
    found = running or mine
    return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Watch:
    """What a task shows, and since when it shows just that (seconds of any steady clock)."""

    shown: tuple[str, str, int | None, int]
    since: float

    @property
    def says_percent(self) -> bool:
        """There is a PercentComplete: that it stays as it is means something (fwupd#7593)."""
        return self.shown[2] is not None


def watched(before: Watch | None, task: Task, now: float) -> Watch:
    """After one more look."""
    shown = (task.state, task.status, task.percent, len(task.messages))
    return before if before is not None and before.shown == shown else Watch(shown, now)


def has_stalled(watch: Watch, now: float, *, unchanged: float, unsaid: float) -> bool:
    """It shows no progress for too long: `unchanged` seconds with the same percentage, `unsaid` where it gives none."""
    return now - watch.since > (unchanged if watch.says_percent else unsaid)
