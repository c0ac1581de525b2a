"""Refused logins, pinned certificates and write leases."""

import asyncio

from provisioner.store.opening import Store
from tests.store.nodes import minutes

BMC = "127.20.1.1:8443"


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
