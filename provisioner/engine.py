"""Durable runs of operations, by DBOS. The only module that knows it (pinned exactly; its traps are dealt with here).

* Runs started or recovered all live on the event loop that called `launch`, since DBOS adopts the running one.
* `executor_id` is the worker's slot, never shared by two live processes; `application_version` is set by hand, or a
  patch release of DBOS would strand every run in flight.
* A run of a dead worker stays PENDING for ever by itself: `adopt` gives it to whoever holds the dead worker's slot.
"""

import sqlite3
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ParamSpec, TypeVar, cast

from dbos import DBOS, DBOSConfig, SetEnqueueOptions, SetWorkflowID, WorkflowStatus

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

APPLICATION_VERSION = "firstlight-1"
"""Changed only with a change that runs in flight cannot survive; drain before."""

_RACK_QUEUE = "rack"
_SHORTEST_WAIT_SECONDS = 5.0
"""Real time: a signal wakes at once at any speed, and every look that nobody asked for costs three records."""
_ACTIVE = ["ENQUEUED", "PENDING", "DELAYED"]
_STATUS = {
    "ENQUEUED": RunStatus.QUEUED,
    "DELAYED": RunStatus.QUEUED,
    "PENDING": RunStatus.RUNNING,
    "SUCCESS": RunStatus.DONE,
    "CANCELLED": RunStatus.CANCELLED,
    "ERROR": RunStatus.FAILED,
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": RunStatus.FAILED,
}


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """`url`: SQLAlchemy URL, SQLite or PostgreSQL. `slot`: this worker's. `per_rack`: disruptive runs at once."""

    url: str
    slot: str
    per_rack: int
    poll: timedelta
    """Real time between looks at queues and signals."""
    threads: int = 24


class DbosDurable:
    """`Durable`, inside a run."""

    def __init__(self, clock: Clock) -> None:
        """`clock` says how long waiting takes in real time."""
        self._clock = clock

    async def step(self, name: str, action: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """As the protocol says. Errors of ours are recorded as data: replay must not depend on pickled classes."""

        async def recorded() -> list[Recorded]:
            return await attempt(lambda: action(*args, **kwargs), self._clock)

        return cast("R", result_of(await DBOS.run_step_async({"name": name, "preemptible": True}, recorded)))

    async def sleep(self, duration: timedelta) -> None:
        """As the protocol says."""
        await DBOS.sleep_async(self._clock.wall(duration))

    async def wait_signal(self, topic: str, timeout: timedelta) -> bool:
        """As the protocol says."""
        seconds = max(self._clock.wall(timeout), _SHORTEST_WAIT_SECONDS)
        return await DBOS.recv_async(topic, timeout_seconds=seconds) is not None


class DbosEngine:
    """`Runs` over DBOS. One per process, since DBOS is."""

    def __init__(self, settings: EngineSettings, clock: Clock) -> None:
        """Nothing happens before `launch`."""
        self._settings = settings
        self._clock = clock
        self._workflows: dict[str, Callable[[str], Awaitable[None]]] = {}
        self._live: set[str] = set()

    async def launch(self, world: World, operations: Mapping[str, Operation]) -> None:
        """Register the operations, take up what this slot was doing when it stopped, and begin to work."""
        DBOS(config=self._config())
        for name, operation in operations.items():
            self._workflows[name] = self._workflow(name, operation, world)
        DBOS.launch()
        await DBOS.register_queue_async(
            _RACK_QUEUE,
            partition_concurrency=self._settings.per_rack,
            polling_interval_sec=self._settings.poll.total_seconds(),
            on_conflict="always_update",
        )

    async def close(self) -> None:
        """Stop working. Runs stay as they are and go on at the next launch."""
        DBOS.destroy(destroy_registry=True)

    async def start(self, key: RunKey, rack: RackName | None) -> None:
        """As the protocol says."""
        workflow = self._workflows[key.operation]
        if rack is None:
            with SetWorkflowID(key.id):
                await DBOS.start_workflow_async(workflow, key.id)  # type: ignore[arg-type]  # Awaitable is enough
            return
        with SetWorkflowID(key.id), SetEnqueueOptions(queue_partition_key=rack):
            await DBOS.enqueue_workflow_async(_RACK_QUEUE, workflow, key.id)  # type: ignore[arg-type]  # as above

    async def cancel(self, run: OperationId) -> None:
        """As the protocol says."""
        await DBOS.cancel_workflow_async(run)

    async def signal(self, run: OperationId, topic: str) -> None:
        """As the protocol says."""
        await DBOS.send_async(run, "", topic)

    async def active(self) -> Sequence[Run]:
        """As the protocol says."""
        return _runs(await DBOS.list_workflows_async(status=_ACTIVE, load_input=False, load_output=False))

    async def find(self, runs: Sequence[OperationId]) -> Sequence[Run]:
        """As the protocol says."""
        if not runs:
            return ()
        found = await DBOS.list_workflows_async(workflow_ids=[*runs], load_input=False, load_output=False)
        return _runs(found)

    async def adopt(self, slot: str) -> int:
        """Take over what `slot` was running. Only for the holder of that slot's lock; how many runs it was."""
        orphans = await DBOS.list_workflows_async(executor_id=slot, status="PENDING", load_input=False)
        await self._resume(orphans)
        return len(orphans)

    async def rescue(self, slots: Collection[str], older_than: timedelta) -> Sequence[OperationId]:
        """Stuck runs, given back to work: PENDING for `older_than`, and nobody has them in hand.

        That is: under our slot but not alive in this process, or under a slot that does not exist any more.
        """
        pending = await DBOS.list_workflows_async(status="PENDING", load_input=False, load_output=False)
        before = datetime.now(UTC) - older_than
        stuck = [one for one in pending if _time(one.updated_at) < before and self._is_stuck(one, slots)]
        await self._resume(stuck)
        return [OperationId(one.workflow_id) for one in stuck]

    async def forget(self, before: datetime) -> int:
        """Delete what ended before then (at most 1,000 runs a call); how many runs it was."""
        ended = await DBOS.list_workflows_async(
            completed_before=before.isoformat(),
            status=["SUCCESS", "ERROR", "CANCELLED"],
            limit=1000,
            load_input=False,
            load_output=False,
        )
        if ended:
            await DBOS.delete_workflows_async([run.workflow_id for run in ended])
        return len(ended)

    def _workflow(self, name: str, operation: Operation, world: World) -> Callable[[str], Awaitable[None]]:
        async def workflow(run: str) -> None:
            self._live.add(run)
            try:
                await carry_out(DbosDurable(self._clock), world, RunKey.parse(run), operation)
            finally:
                self._live.discard(run)

        workflow.__name__ = workflow.__qualname__ = name
        return DBOS.workflow(name=name)(workflow)

    async def _resume(self, runs: Sequence[WorkflowStatus]) -> None:
        """Back to the queue that each came from: the default queue would lose the rack's limit."""
        for queue in {run.queue_name for run in runs}:
            ids = [run.workflow_id for run in runs if run.queue_name == queue]
            await DBOS.resume_workflows_async(ids, queue_name=queue)

    def _is_stuck(self, run: WorkflowStatus, slots: Collection[str]) -> bool:
        if run.executor_id == self._settings.slot:
            return run.workflow_id not in self._live
        return run.executor_id not in slots

    def _config(self) -> DBOSConfig:
        poll = self._settings.poll.total_seconds()
        return {
            "name": "firstlight",
            "system_database_url": _in_wal(self._settings.url),
            "application_version": APPLICATION_VERSION,
            "executor_id": self._settings.slot,
            "max_executor_threads": self._settings.threads,
            "notification_listener_polling_interval_sec": poll,
            "log_level": "WARNING",
        }


def _in_wal(url: str) -> str:
    """Create an SQLite file in WAL mode (it stays so), or DBOS's notification poller stalls behind every writer."""
    if url.startswith("sqlite:///"):
        connection = sqlite3.connect(url.removeprefix("sqlite:///"))
        connection.execute("PRAGMA journal_mode=WAL")
        connection.close()
    return url


def _runs(found: Sequence[WorkflowStatus]) -> list[Run]:
    return [_run(one) for one in found]


def _run(one: WorkflowStatus) -> Run:
    return Run(
        id=OperationId(one.workflow_id),
        status=_STATUS[one.status],
        worker=one.executor_id,
        started_at=_time(one.created_at),
        updated_at=_time(one.updated_at),
    )


def _time(milliseconds: int | None) -> datetime:
    return datetime.fromtimestamp((milliseconds or 0) / 1000, UTC)
