"""The same operations without a database and without waiting: for property tests and fleet simulations.

Time is simulated by the event loop itself (`SimulatedLoop`): when nothing is ready to run, its clock jumps to the next
timer. Forty minutes of flashing pass in microseconds and always in the same order.
"""

import asyncio
import selectors
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import ParamSpec, TypeVar, cast

from provisioner.capabilities.clock import Clock
from provisioner.capabilities.durable import Recorded
from provisioner.capabilities.world import World
from provisioner.models.identifiers import OperationId, RackName, RunKey
from provisioner.models.operation import Run, RunStatus
from provisioner.operations.attempts import attempt, result_of
from provisioner.operations.conclude import carry_out
from provisioner.operations.outcome import Operation

P = ParamSpec("P")
R = TypeVar("R", bound=Recorded)

_EPOCH = datetime(2030, 1, 1, tzinfo=UTC)


class Crash(BaseException):
    """The process dies here. Not an Exception: nothing on the way may handle it."""


class _Jumping(selectors.SelectSelector):
    """Never waits: what asks to wait moves the clock instead."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("everything waits for something that never comes")
        self.now += max(timeout, 0.0)
        return super().select(0)


class SimulatedLoop(asyncio.SelectorEventLoop):
    """An event loop whose `time()` jumps. Nothing that runs on it may do real I/O or use threads."""

    def __init__(self) -> None:
        """Starts at 0 seconds."""
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Simulated seconds since the start."""
        return self._jumping.now


class SimulatedClock:
    """`Clock` of a `SimulatedLoop`: one simulated second is one second."""

    def now(self) -> datetime:
        """As the loop says."""
        return _EPOCH + timedelta(seconds=asyncio.get_running_loop().time())

    def wall(self, duration: timedelta) -> float:
        """Seconds of the loop's time."""
        return duration.total_seconds()

    def work(self, duration: timedelta) -> float:
        """The same."""
        return duration.total_seconds()

    def limit(self, duration: timedelta) -> float:
        """The same: no machine is busy here."""
        return duration.total_seconds()


@dataclass(frozen=True, slots=True)
class AlwaysAwake:
    """`Awake`: simulated processes never stop without ending."""

    start: datetime

    def since(self) -> datetime:
        """The start."""
        return self.start


@dataclass(slots=True)
class _Record:
    """What outlives a crash: recorded steps by their position, and signals."""

    key: RunKey
    rack: RackName | None
    status: RunStatus
    started_at: datetime
    error: Exception | None = None
    """What ended it without a result."""
    steps: list[tuple[str, list[Recorded]]] = field(default_factory=list)
    signals: dict[str, asyncio.Queue[None]] = field(default_factory=dict)


class MemoryDurable:
    """`Durable`, inside a run. `crash` is asked before and after the body of every step; it may raise `Crash`."""

    def __init__(self, record: _Record, clock: Clock, crash: Callable[[str], None]) -> None:
        """Replays what `record` holds, then appends to it."""
        self._record, self._clock, self._crash = record, clock, crash
        self._position = 0

    async def step(self, name: str, action: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """As the protocol says. Raises RuntimeError when a replay asks for another step than the first run."""
        position, self._position = self._position, self._position + 1
        if position < len(self._record.steps):
            seen, recorded = self._record.steps[position]
            if seen != name:
                raise RuntimeError(f"step {position} was {seen} and is {name} now: the operation is not deterministic")
            return cast("R", result_of(recorded))
        self._crash(name)
        recorded = await attempt(lambda: action(*args, **kwargs), self._clock)
        self._crash(name)
        self._record.steps.append((name, recorded))
        return cast("R", result_of(recorded))

    async def sleep(self, duration: timedelta) -> None:
        """As the protocol says; a sleep that was begun before a crash begins anew."""
        await asyncio.sleep(self._clock.wall(duration))

    async def wait_signal(self, topic: str, timeout: timedelta) -> bool:
        """As the protocol says; the answer is recorded, since replay has to take the same way."""
        return bool(await self.step(f"wait:{topic}", self._wait, topic, timeout))

    async def _wait(self, topic: str, timeout: timedelta) -> bool:
        queue = self._record.signals.setdefault(topic, asyncio.Queue())
        try:
            await asyncio.wait_for(queue.get(), self._clock.wall(timeout))
        except TimeoutError:
            return False
        return True


class MemoryEngine:
    """`Runs` in memory. `crash` decides where the process dies; `restart` brings the unfinished runs back."""

    def __init__(
        self,
        world: World,
        operations: Mapping[str, Operation],
        *,
        per_rack: int = 4,
        crash: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`per_rack`: how many disruptive runs a rack takes at once."""
        self._world, self._operations, self._crash, self._per_rack = world, operations, crash, per_rack
        self._records: dict[OperationId, _Record] = {}
        self._tasks: dict[OperationId, asyncio.Task[None]] = {}
        self._racks: dict[RackName, asyncio.Semaphore] = {}

    async def start(self, key: RunKey, rack: RackName | None) -> None:
        """As the protocol says."""
        if key.id not in self._records:
            self._records[key.id] = _Record(key, rack, RunStatus.QUEUED, self._world.clock.now())
            self._spawn(key.id)

    async def cancel(self, run: OperationId) -> None:
        """As the protocol says."""
        if run in self._tasks:
            self._tasks[run].cancel()
            self._records[run].status = RunStatus.CANCELLED

    async def signal(self, run: OperationId, topic: str) -> None:
        """As the protocol says."""
        if run in self._records:
            self._records[run].signals.setdefault(topic, asyncio.Queue()).put_nowait(None)

    async def active(self) -> Sequence[Run]:
        """As the protocol says."""
        return [run for run in self._all() if run.status in {RunStatus.QUEUED, RunStatus.RUNNING}]

    async def find(self, runs: Sequence[OperationId]) -> Sequence[Run]:
        """As the protocol says."""
        return [run for run in self._all() if run.id in runs]

    def restart(self) -> None:
        """The process has died and is there again: unfinished runs go on from their recorded steps."""
        for run, task in self._tasks.items():
            task.cancel()
            if self._records[run].status in {RunStatus.QUEUED, RunStatus.RUNNING}:
                self._spawn(run)

    def steps_of(self, run: OperationId) -> list[str]:
        """The names of the recorded steps, in order."""
        return [name for name, _ in self._records[run].steps]

    def errors(self) -> dict[OperationId, Exception]:
        """What ended runs without a result: faults of ours."""
        return {run: record.error for run, record in self._records.items() if record.error is not None}

    def _all(self) -> list[Run]:
        return [
            Run(run, record.status, "memory", record.started_at, record.started_at)
            for run, record in self._records.items()
        ]

    def _spawn(self, run: OperationId) -> None:
        self._tasks[run] = asyncio.ensure_future(self._run(run))

    async def _run(self, run: OperationId) -> None:
        record = self._records[run]
        async with self._slot(record.rack):
            record.status = RunStatus.RUNNING
            durable = MemoryDurable(record, self._world.clock, self._crash)
            try:
                await carry_out(durable, self._world, record.key, self._operations[record.key.operation])
            except Crash:
                return  # `restart` spawns it again
            except Exception as error:  # noqa: BLE001  the engine's outermost handler
                record.error, record.status = error, RunStatus.FAILED
                return
            record.status = RunStatus.DONE

    def _slot(self, rack: RackName | None) -> asyncio.Semaphore:
        return self._racks.setdefault(rack, asyncio.Semaphore(self._per_rack)) if rack else asyncio.Semaphore(1)
