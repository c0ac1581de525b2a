"""Tasks of one BMC. They are lost when it restarts, unless the persona keeps them as iDRAC keeps its jobs."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from emulator.faults.fault import Arguments
from emulator.machine.board import Board
from emulator.machine.task_notes import Note
from emulator.tree.places import UPDATE_SERVICE

FINISHED = ("Completed", "Exception", "Cancelled", "Killed")


class TasksFullError(Exception):
    """No more tasks are taken before somebody deletes one that has ended."""


@dataclass(slots=True)
class Task:
    """One long operation. `began` and `wall_seconds` give its progress while it runs; `status` is its health."""

    id: str
    name: str
    state: str = "New"
    status: str = "OK"
    messages: list[Note] = field(default_factory=list)
    started_at: float = field(default_factory=time.time)
    ended_at: float | None = None
    began: float = 0.0
    wall_seconds: float = 0.0
    request_path: str = ""
    request_body: str = ""
    """The JSON of the request that made it."""
    parent: str = ""
    """The id of the task that it is a part of."""
    job_state: str = ""
    """The state of the same thing in Dell's words, where they say more."""
    job_type: str = "FirmwareUpdate"
    held_percent: int | None = None
    polls: int = 0
    cancel: Callable[[], bool] | None = None
    """Ends the work; says whether it could. None: it cannot be cancelled."""
    result: dict[str, Any] | None = None
    """What the monitor answers once it has ended well; None: the task."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in FINISHED

    @property
    def percent(self) -> int:
        """PercentComplete; 100 only when it is done."""
        if self.ended:
            return 100
        if self.state in ("New", "Pending") or not self.wall_seconds:
            return 0
        if self.held_percent is not None:
            return self.held_percent
        return min(99, int(100 * (time.monotonic() - self.began) / self.wall_seconds))

    def run(self, wall_seconds: float) -> None:
        """It runs from now on and will take so long."""
        self.state = "Running"
        self.began = time.monotonic()
        self.wall_seconds = wall_seconds

    def say(self, note: Note) -> None:
        """Add a message."""
        self.messages.append(note)

    def end(self, state: str, message: str | Note) -> None:
        """It ends in Completed, Exception or Cancelled."""
        if isinstance(message, str):
            failed = state == "Exception"
            message = Note("OperationFailed" if failed else "Success", message, (), "Critical" if failed else "OK")
        self.state = state
        self.status = "Critical" if state == "Exception" else self.status
        self.messages.append(message)
        self.ended_at = time.time()
        self.cancel = None


class Tasks:
    """The tasks that the BMC knows, oldest first. `changed` hears of every task that began, ended or was removed."""

    def __init__(self, board: Board) -> None:
        """What the BMC has kept, if it keeps tasks."""
        self._board = board
        self._policy = board.persona.tasks
        self._tasks: dict[str, Task] = {}
        self._next = 0 if self._policy.numbers_restart else int(time.time())
        self.changed: Callable[[Task, str], None] = lambda _task, _what: None
        for kept in board.state.tasks:
            task = _read(kept)
            self._tasks[task.id] = task

    def create(self, name: str, parent: str = "") -> Task:
        """A new task. Raises TasksFullError."""
        self._make_room()
        number = f"{self._next:0{self._policy.digits}}"
        self._next += 1
        task = Task(self._policy.id.replace("{number}", number), name, parent=parent)
        self._tasks[task.id] = task
        self.changed(task, "TaskStarted")
        return task

    def find(self, task_id: str) -> Task | None:
        """The task of that id, or None."""
        self._expire()
        return self._tasks.get(task_id)

    def listing(self, parent: str = "") -> list[Task]:
        """All of them; with `parent`, the parts of that one."""
        self._expire()
        self._add_foreign()
        return [task for task in self._tasks.values() if task.parent == parent]

    def ended(self, task: Task) -> None:
        """Say that a task has ended; those who listen hear it, and it is kept where tasks are."""
        how = {"Exception": "TaskAborted", "Killed": "TaskAborted", "Cancelled": "TaskCancelled"}
        self.changed(task, how.get(task.state, "TaskCompletedOK" if task.status == "OK" else "TaskCompletedWarning"))
        self.keep()

    def forget(self, task: Task) -> None:
        """The BMC knows it no more, nor its parts."""
        self._tasks.pop(task.id, None)
        for part in [one for one in self._tasks.values() if one.parent == task.id]:
            self._tasks.pop(part.id, None)
        self.changed(task, "TaskRemoved")
        self.keep()

    def hide(self, task: Task) -> None:
        """It goes on, and nobody sees it."""
        self._tasks.pop(task.id, None)

    def clear(self) -> None:
        """The BMC restarts: what ran has failed; the others are lost, or kept."""
        if self._policy.kept:
            for task in self._tasks.values():
                if not task.ended and task.state != "Pending":
                    task.end("Exception", "The operation was interrupted by a restart of the BMC.")
            self.keep()
            return
        self._tasks.clear()
        if self._policy.numbers_restart:
            self._next = 0

    def keep(self) -> None:
        """Remember the tasks, where the persona does."""
        self._board.touch()
        if self._policy.kept:
            self._board.state.tasks = [
                asdict(replace(task, cancel=None)) for task in self._tasks.values() if task.id != _FOREIGN
            ]
            self._board.save()

    def _make_room(self) -> None:
        if len(self._tasks) < self._policy.most:
            return
        over = [task for task in self._tasks.values() if task.ended]
        if self._policy.overwrite == "Manual" or not over:
            raise TasksFullError
        self._tasks.pop(over[0].id)

    def _expire(self) -> None:
        minutes = self._policy.auto_delete_minutes
        if minutes is None:
            return
        before = time.time() - self._board.clock.limit_seconds(minutes * 60)
        for task in [one for one in self._tasks.values() if one.ended_at and one.ended_at < before]:
            self.forget(task)

    def _add_foreign(self) -> None:
        fault = self._board.faults.peek("foreign-task")
        if fault and _FOREIGN not in self._tasks:
            self._tasks[_FOREIGN] = _foreign(fault)
        elif not fault:
            self._tasks.pop(_FOREIGN, None)


_FOREIGN = "foreign"


def _foreign(fault: Arguments) -> Task:
    task = Task(_FOREIGN, str(fault["name"]), request_path=f"{UPDATE_SERVICE}/update")
    task.run(3600.0)
    return task


def _read(kept: dict[str, Any]) -> Task:
    """A task as it was kept; what ran has been interrupted."""
    notes = [
        Note(**{**one, "arguments": tuple(one["arguments"]), "related": tuple(one["related"])})
        for one in kept["messages"]
    ]
    task = Task(**{**kept, "messages": notes})
    if not task.ended and task.state != "Pending":
        task.end("Exception", "The operation was interrupted by a restart of the BMC.")
    return task
