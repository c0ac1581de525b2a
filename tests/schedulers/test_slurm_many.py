"""A domain of nodes with one job over all of them, drained at once: what Slurm is asked, and how often."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from provisioner.errors import SchedulerError
from provisioner.models.identifiers import NodeName
from provisioner.models.scheduling import CheckpointThenRequeue, OurReason, Standing
from provisioner.schedulers.node_names import NodeNames
from provisioner.schedulers.slurm import Slurm
from provisioner.schedulers.slurm_reading import SlurmJob, SlurmNode
from tests.schedulers.site import Later

NAMES = [f"n{number}" for number in range(100)]
NODES = [NodeName(name) for name in NAMES]
POLICY = CheckpointThenRequeue(grace=timedelta(minutes=10))


class MemorySlurm:
    """A `SlurmControl` without Slurm: one job over all nodes, that takes no notice until it is put back."""

    name = "slurm"

    def __init__(self) -> None:
        self.asked = Counter[str]()
        self.refuses = False
        self._reasons = dict.fromkeys(NAMES, "")
        self._comment = ""
        self._runs = True

    async def nodes(self) -> Mapping[str, SlurmNode]:
        self.asked["nodes"] += 1
        await asyncio.sleep(0)
        return {name: self._node(name) for name in NAMES}

    def _node(self, name: str) -> SlurmNode:
        states = {"ALLOCATED" if self._runs else "IDLE"} | ({"DRAIN"} if self._reasons[name] else set())
        return SlurmNode(name, frozenset(states), self._reasons[name], "", (), resumes_after_reboot=False)

    async def jobs(self) -> Sequence[SlurmJob]:
        self.asked["jobs"] += 1
        await asyncio.sleep(0)
        started = datetime(2026, 1, 1, tzinfo=UTC)
        job = SlurmJob("7", frozenset(NAMES), started, None, requeue=True, admin_comment=self._comment)
        return [job] if self._runs else []

    async def set_state(self, node: str, state: str, reason: str | None) -> None:
        self.asked[state] += 1
        self._reasons[node] = reason or ""

    async def set_reason(self, node: str, reason: str) -> None:
        self.asked["reason"] += 1
        self._reasons[node] = reason

    async def set_features(self, node: str, features: Sequence[str]) -> None:
        self.asked[f"features {node} {features}"] += 1

    async def cancel_reboot(self, node: str) -> None:
        self.asked[f"cancel_reboot {node}"] += 1

    async def signal(self, job: str, signal: str) -> None:
        await asyncio.sleep(0)
        self.asked[f"{signal} {job}"] += 1

    async def comment(self, job: str, text: str) -> None:
        self.asked[f"comment {job}"] += 1
        self._comment = text

    async def requeue(self, job: str) -> None:
        await asyncio.sleep(0)
        self.asked[f"requeue {job}"] += 1
        if self.refuses:
            raise SchedulerError(self.name, "disabled", "ask its owner")
        self._runs = False

    async def cancel(self, job: str) -> None:
        self.asked[f"cancel {job}"] += 1

    async def close(self) -> None:
        """Nothing is open."""


async def drain_all(slurm: Slurm) -> set[Standing]:
    views = await asyncio.gather(*(slurm.drain(node, OurReason("green-7", 1), POLICY) for node in NODES))
    return {view.standing for view in views}


async def test_a_hundred_drains_at_once_cost_a_few_lists_and_one_signal() -> None:
    control, clock = MemorySlurm(), Later()
    slurm = Slurm(control, clock, NodeNames())
    assert await drain_all(slurm) == {Standing.DRAINING}
    assert control.asked["USR1 7"] == 1
    assert control.asked["DRAIN"] == len(NODES)
    assert control.asked["jobs"] <= 10
    clock.ahead = timedelta(minutes=11)
    await drain_all(slurm)
    assert control.asked["requeue 7"] == 1
    assert await drain_all(slurm) == {Standing.DRAINED}
    assert control.asked["USR1 7"] == 1


async def test_what_was_refused_is_asked_again_with_the_next_drain() -> None:
    """okd-project/okd#593, for a job that may not be put back at first."""
    control, clock = MemorySlurm(), Later()
    slurm = Slurm(control, clock, NodeNames())
    await slurm.drain(NODES[0], OurReason("green-7", 1), POLICY)
    clock.ahead = timedelta(minutes=11)
    control.refuses = True
    for tries in range(1, 8):
        stuck = await slurm.drain(NODES[0], OurReason("green-7", 1), POLICY)
        assert stuck.blocked == ("job 7: disabled; ask its owner",)
        assert control.asked["requeue 7"] == tries
    control.refuses = False
    assert (await slurm.drain(NODES[0], OurReason("green-7", 1), POLICY)).standing is Standing.DRAINED
