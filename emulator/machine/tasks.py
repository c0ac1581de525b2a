"""Tasks of one BMC; they are lost when it restarts."""

import time
from dataclasses import dataclass, field

from emulator.machine.board import Board

FINISHED = ("Completed", "Exception")


@dataclass(slots=True)
class Task:
    """One long operation. `began` and `wall_seconds` give its progress while it runs."""

    id: str
    name: str
    state: str = "New"
    messages: list[str] = field(default_factory=list)
    started_at: float = field(default_factory=time.time)
    ended_at: float | None = None
    began: float = 0.0
    wall_seconds: float = 0.0
    request_path: str = ""
    request_body: str = ""
    """The JSON of the request that made it."""

    @property
    def percent(self) -> int:
        """PercentComplete; 100 only when it is done."""
        if self.state in FINISHED:
            return 100
        if self.state == "New" or not self.wall_seconds:
            return 0
        return min(99, int(100 * (time.monotonic() - self.began) / self.wall_seconds))

    def run(self, wall_seconds: float) -> None:
        """It runs from now on and will take so long."""
        self.state = "Running"
        self.began = time.monotonic()
        self.wall_seconds = wall_seconds

    def end(self, state: str, message: str) -> None:
        """It ends in Completed or Exception."""
        self.state = state
        self.messages.append(message)
        self.ended_at = time.time()


class Tasks:
    """The tasks that the BMC knows, oldest first."""

    def __init__(self, board: Board) -> None:
        """None."""
        self._board = board
        self._tasks: dict[str, Task] = {}
        self._next = 0 if board.persona.tasks.numbers_restart else int(time.time())

    def create(self, name: str) -> Task:
        """A new task."""
        number = f"{self._next:0{self._board.persona.tasks.digits}}"
        self._next += 1
        task = Task(self._board.persona.tasks.id.replace("{number}", number), name)
        self._tasks[task.id] = task
        return task

    def find(self, task_id: str) -> Task | None:
        """The task of that id, or None."""
        return self._tasks.get(task_id)

    def listing(self) -> list[Task]:
        """All of them."""
        return list(self._tasks.values())

    def forget(self, task: Task) -> None:
        """The BMC knows it no more."""
        self._tasks.pop(task.id, None)

    def clear(self) -> None:
        """The BMC restarts."""
        self._tasks.clear()
        if self._board.persona.tasks.numbers_restart:
            self._next = 0
