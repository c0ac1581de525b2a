"""Slurm, whichever way it is spoken to: what is read, and what is then done, in which order."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from provisioner.capabilities.clock import Clock
from provisioner.errors import SchedulerError
from provisioner.models.identifiers import NodeName, ReleaseDigest
from provisioner.models.scheduling import DrainPolicy, OurReason, SchedulerView, release_label
from provisioner.schedulers import rules
from provisioner.schedulers.node_names import NodeNames
from provisioner.schedulers.rules import Due
from provisioner.schedulers.shared_read import SharedRead
from provisioner.schedulers.slurm_reading import SlurmJob, SlurmNode, view_of

_PREFIX = "firstlight-"
_AGAIN_AFTER = timedelta(minutes=1)
"""What was done to a job, and has changed nothing, is done again."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class SlurmControl(Protocol):
    """Single orders to Slurm. All raise `SchedulerError`."""

    name: str

    async def nodes(self) -> Mapping[str, SlurmNode]:
        """All of them, by name."""
        ...

    async def jobs(self) -> Sequence[SlurmJob]:
        """Everything that holds nodes."""
        ...

    async def set_state(self, node: str, state: str, reason: str | None) -> None:
        """`state`: DRAIN, DOWN or RESUME."""
        ...

    async def set_reason(self, node: str, reason: str) -> None:
        """Whatever the state."""
        ...

    async def set_features(self, node: str, features: Sequence[str]) -> None:
        """All of them, available and active."""
        ...

    async def cancel_reboot(self, node: str) -> None:
        """One that was ordered and has not begun."""
        ...

    async def signal(self, job: str, signal: str) -> None:
        """To all its processes."""
        ...

    async def comment(self, job: str, text: str) -> None:
        """The administrators' comment, which lives as long as the job."""
        ...

    async def requeue(self, job: str) -> None:
        """End it and put it back into the queue."""
        ...

    async def cancel(self, job: str) -> None:
        """End it."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Slurm:
    """A `Scheduler`. Slurm drains by itself: a cordoned node starts no job and lets those that run go on.

    It keeps one reason for a node. Nothing says that it is still the one that was read when the next order arrives, so
    each order goes out right behind the reading, and each answer is read back.
    """

    def __init__(self, control: SlurmControl, clock: Clock, names: NodeNames) -> None:
        """`clock`: for deadlines and graces."""
        self._control, self._clock, self._names = control, clock, names
        self._read = SharedRead(self._read_all)
        self._done: dict[tuple[str, datetime | None, Due], datetime] = {}
        """When what was done to which run of a job: one on many nodes is told once, whichever is drained first."""

    async def look(self, nodes: Collection[NodeName]) -> Mapping[NodeName, SchedulerView]:
        """Two requests, however many nodes."""
        theirs = {node: self._names.theirs(node) for node in nodes}
        if not theirs:
            return {}
        seen, jobs = await self._read()
        return {node: _view(seen.get(name), name, jobs.get(name, ())) for node, name in theirs.items()}

    async def cordon(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """As of `Scheduler`."""
        view = await self._look_at(node)
        if not rules.must_be_cordoned(self._control.name, node, view, reason):
            return view
        name = self._names.theirs(node)
        if view.cordons:
            await self._control.set_reason(name, reason.text)
        else:
            await self._control.set_state(name, "DRAIN", reason.text)
        return await self._look_at(node)

    async def drain(self, node: NodeName, reason: OurReason, policy: DrainPolicy) -> SchedulerView:
        """As of `Scheduler`. A job on several nodes is told once, whichever of them is drained first."""
        view = await self.cordon(node, reason)
        rules.must_be_ours(self._control.name, node, view, reason)
        said: list[str] = []
        if view.jobs:
            _, jobs = await self._read()
            said = [await self._do_what_is_due(job, policy) for job in jobs.get(self._names.theirs(node), ())]
            view = await self._look_at(node)
        late = rules.overdue(policy, view.jobs, self._clock.now())
        return replace(view, blocked=(*view.blocked, *(one for one in said if one), *late))

    async def label(self, node: NodeName, release: ReleaseDigest) -> SchedulerView:
        """A feature that jobs can ask for; the release that was there before goes."""
        name = self._names.theirs(node)
        seen = (await self._read())[0].get(name)
        if seen is None:
            raise self._missing(name)
        others = [feature for feature in seen.features if not feature.startswith(_PREFIX)]
        wanted = (*others, f"{_PREFIX}{release_label(release)}")
        if wanted != seen.features:
            await self._control.set_features(name, wanted)
        return await self._look_at(node)

    async def expect_reboot(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """`nextstate` of a reboot through Slurm is RESUME by default, before any check (mej/nhc#84): such a one is
        cancelled, or refused where it has begun. Ours leaves the node DOWN, and only `uncordon` resumes it.
        """
        name = self._names.theirs(node)
        seen = (await self._read())[0].get(name)
        if seen is not None and seen.reboot_can_be_cancelled and OurReason.parse(seen.reason):
            await self._control.cancel_reboot(name)
        rules.must_be_drained(self._control.name, node, await self.cordon(node, reason), reason)
        if seen is not None and "DOWN" not in seen.states:
            await self._control.set_state(name, "DOWN", reason.text)
        return await self._look_at(node)

    async def uncordon(self, node: NodeName, reason: OurReason) -> SchedulerView:
        """As of `Scheduler`."""
        view = await self._look_at(node)
        if not rules.may_be_lifted(self._control.name, node, view, reason):
            return view
        await self._control.set_state(self._names.theirs(node), "RESUME", None)
        return await self._look_at(node)

    async def close(self) -> None:
        """As of `Scheduler`."""
        await self._control.close()

    async def _look_at(self, node: NodeName) -> SchedulerView:
        return (await self.look([node]))[node]

    async def _read_all(self) -> tuple[Mapping[str, SlurmNode], Mapping[str, Sequence[SlurmJob]]]:
        """Nodes first: of one that starts no job any more, the jobs that are read then are all that there are."""
        nodes = await self._control.nodes()
        return nodes, _by_node(await self._control.jobs())

    async def _do_what_is_due(self, job: SlurmJob, policy: DrainPolicy) -> str:
        """What Slurm says against it, or nothing."""
        now = self._clock.now()
        due = rules.due(policy, job.signalled_at, now)
        key = (job.id, job.started_at, due)
        if due is Due.NOTHING or now - self._done.get(key, _LONG_AGO) < _AGAIN_AFTER:
            return ""
        self._done = {one: at for one, at in self._done.items() if now - at < _AGAIN_AFTER} | {key: now}
        try:
            await self._do(due, job, policy, now)
        except SchedulerError as error:
            self._done.pop(key, None)
            return f"job {job.id}: {error.problem}; {error.remedy}"
        return ""

    async def _do(self, due: Due, job: SlurmJob, policy: DrainPolicy, now: datetime) -> None:
        match due:
            case Due.SIGNAL:
                await self._control.signal(job.id, getattr(policy, "signal", "USR1"))
                await self._control.comment(job.id, job.comment_with_signal(now))
            case Due.REQUEUE:
                await self._control.requeue(job.id)
            case Due.END if job.requeue:
                await self._requeue_or_cancel(job.id)
            case Due.END:
                await self._control.cancel(job.id)

    async def _requeue_or_cancel(self, job: str) -> None:
        """Only batch jobs can be put back into the queue."""
        try:
            await self._control.requeue(job)
        except SchedulerError:
            await self._control.cancel(job)

    def _missing(self, name: str) -> SchedulerError:
        return SchedulerError(
            self._control.name, f"it has no node {name}", "add it to slurm.conf, or correct node_name"
        )


def _by_node(jobs: Sequence[SlurmJob]) -> dict[str, list[SlurmJob]]:
    found: dict[str, list[SlurmJob]] = {}
    for job in jobs:
        for name in job.nodes:
            found.setdefault(name, []).append(job)
    return found


def _view(seen: SlurmNode | None, name: str, jobs: Collection[SlurmJob]) -> SchedulerView:
    if seen is None:
        return SchedulerView(unknown=f"Slurm has no node {name}")
    return view_of(seen, jobs)
