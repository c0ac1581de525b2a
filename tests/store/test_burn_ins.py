"""Burn-in runs, results and signs of life."""

from dataclasses import replace

import pytest

from provisioner.errors import Conflict, NotFound
from provisioner.models.burn_in import BurnInRun, CheckResult, Heartbeat, ResultStatus
from provisioner.store.opening import Store
from tests.store.nodes import N1, N2, add_nodes, minutes

RUN = BurnInRun("run-1", N1, 1, "quick", minutes(1))
RESULT = CheckResult(
    "run-1", 1, "cpu", ResultStatus.PASS, minutes(1), minutes(2), {"seconds": 60.0, "gflops": 1.5}, "µs"
)


async def test_the_newest_run_is_the_one_that_was_opened_last(store: Store) -> None:
    await add_nodes(store)
    assert await store.burn_ins.latest(N1) is None
    assert await store.burn_ins.open(RUN) == RUN
    assert await store.burn_ins.open(replace(RUN, opened_at=minutes(9))) == RUN
    second = await store.burn_ins.open(replace(RUN, run="run-2", attempt=2))
    assert await store.burn_ins.latest(N1) == second
    with pytest.raises(Conflict, match=N1):
        await store.burn_ins.open(replace(RUN, node=N2))


async def test_a_result_counts_once(store: Store) -> None:
    await add_nodes(store)
    await store.burn_ins.open(RUN)
    assert await store.burn_ins.record(RESULT)
    assert not await store.burn_ins.record(replace(RESULT, status=ResultStatus.FAIL))
    later = [replace(RESULT, item="memory"), replace(RESULT, attempt=2, status=ResultStatus.ERROR)]
    for result in later:
        assert await store.burn_ins.record(result)
    assert await store.burn_ins.results("run-1") == [RESULT, *later]
    assert await store.burn_ins.results("run-9") == []


async def test_a_result_of_a_run_that_nobody_opened_is_refused(store: Store) -> None:
    await add_nodes(store)
    with pytest.raises(NotFound):
        await store.burn_ins.record(RESULT)


async def test_the_last_heartbeat_is_kept_and_one_that_was_overtaken_is_not(store: Store) -> None:
    await add_nodes(store)
    assert await store.burn_ins.heartbeat(N1) is None
    beat = Heartbeat(N1, minutes(1), "boot-1", 7, "cpu", 12.5)
    await store.burn_ins.beat(beat)
    await store.burn_ins.beat(replace(beat, at=minutes(2), sequence=6))
    assert await store.burn_ins.heartbeat(N1) == beat
    rebooted = Heartbeat(N1, minutes(3), "boot-2", 1, None, None)
    await store.burn_ins.beat(rebooted)
    assert await store.burn_ins.heartbeat(N1) == rebooted
