"""Refused logins, pinned certificates, write leases and the journal of updates."""

import asyncio

import pytest

from provisioner.errors import NotFound
from provisioner.models.identifiers import TaskUri
from provisioner.store.opening import Store
from tests.store.nodes import N1, add_nodes, minutes

BMC = "127.20.1.1:8443"
TASK = TaskUri("/redfish/v1/TaskService/Tasks/1")


async def test_refused_logins_are_counted_per_account_until_one_works(store: Store) -> None:
    assert await store.logins.count(BMC, "ADMIN") == 0
    counts = await asyncio.gather(*(store.logins.record(BMC, "ADMIN", minutes(number)) for number in range(5)))
    assert sorted(counts) == [1, 2, 3, 4, 5]
    assert await store.logins.record(BMC, "root", minutes(9)) == 1
    await store.logins.clear(BMC, "ADMIN")
    assert await store.logins.count(BMC, "ADMIN") == 0
    assert await store.logins.count(BMC, "root") == 1


async def test_the_certificate_that_was_seen_first_stays(store: Store) -> None:
    assert await store.certificates.pinned(BMC) is None
    await store.certificates.pin(BMC, "aa")
    await store.certificates.pin(BMC, "bb")
    assert await store.certificates.pinned(BMC) == "aa"


async def test_one_holder_writes_at_a_time(store: Store) -> None:
    holders = [f"worker-{number}" for number in range(6)]
    taken = await asyncio.gather(*(store.leases.acquire(BMC, holder, 60) for holder in holders))
    assert sum(taken) == 1
    holder = holders[taken.index(True)]
    other = next(one for one in holders if one != holder)
    assert await store.leases.acquire(BMC, holder, 60)
    await store.leases.release(BMC, other)
    assert not await store.leases.acquire(BMC, other, 60)
    await store.leases.release(BMC, holder)
    assert await store.leases.acquire(BMC, other, 60)


async def test_a_lease_that_nobody_extends_ends(store: Store) -> None:
    assert await store.leases.acquire(BMC, "dead", 0.05)
    await asyncio.sleep(0.1)
    assert await store.leases.acquire(BMC, "alive", 60)
    assert not await store.leases.acquire(BMC, "dead", 60)


async def test_the_first_intent_counts_until_the_update_is_closed(store: Store) -> None:
    await add_nodes(store)
    update = (N1, "HGX_FW_BMC_0", "24.09-2")
    assert await store.journal.intended(*update) is None
    assert await store.journal.intend(*update, minutes(1)) == minutes(1)
    assert await store.journal.intend(*update, minutes(7)) == minutes(1)
    assert await store.journal.intended(*update) == minutes(1)
    assert await store.journal.task(*update) is None
    await store.journal.started(*update, TASK)
    assert await store.journal.task(*update) == TASK
    await store.journal.close(*update)
    await store.journal.close(*update)
    assert (await store.journal.intended(*update), await store.journal.task(*update)) == (None, None)
    assert await store.journal.intend(*update, minutes(9)) == minutes(9)


async def test_going_back_to_another_version_is_a_new_intent(store: Store) -> None:
    """From A to B in the middle of a flash and back to A: what was intended for A at first sends nothing any more."""
    await add_nodes(store)
    for version, at in (("A", 1), ("B", 2), ("A", 3)):
        assert await store.journal.intend(N1, "bios", version, minutes(at)) == minutes(at)
    assert await store.journal.intended(N1, "bios", "B") is None


async def test_a_task_without_an_intent_is_a_mistake(store: Store) -> None:
    await add_nodes(store)
    with pytest.raises(NotFound):
        await store.journal.started(N1, "BMC", "1.0", TASK)
