"""BMCs that were found by looking."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from provisioner.models.found_bmc import FoundBmc, How, Scan, Sighting
from provisioner.models.inventory import Identity
from provisioner.models.node import BmcAddress
from provisioner.store.opening import Store
from tests.store.nodes import minutes

ROOT = Identity(serial="", uuid="AB-1", manufacturer="Example", model="One")
BMC = Sighting(BmcAddress("127.20.1.1", 8443), ROOT, How.SCAN)
QUARTER = timedelta(minutes=15)


def scan(at: datetime) -> Scan:
    """One that took a minute."""
    return Scan(at, at + timedelta(minutes=1), at + QUARTER, ("127.20.1.0/24", "fd00::/120"), 8443)


async def test_what_is_seen_is_kept_and_told_as_new_once(store: Store) -> None:
    assert (await store.found_bmcs.last_scan(), await store.found_bmcs.all()) == (None, [])
    first = await store.found_bmcs.record(scan(minutes(0)), [BMC])
    assert first == [
        FoundBmc(BMC.address, "ab-1", "Example", "One", first_seen=minutes(1), last_seen=minutes(1), how=How.SCAN)
    ]
    again = replace(BMC, how=How.SSDP)
    assert await store.found_bmcs.record(scan(minutes(15)), [again]) == []
    assert await store.found_bmcs.all() == [replace(first[0], last_seen=minutes(16))]
    assert await store.found_bmcs.last_scan() == scan(minutes(15))


async def test_another_board_at_the_same_address_is_new(store: Store) -> None:
    await store.found_bmcs.record(scan(minutes(0)), [BMC])
    silent = replace(BMC, identity=replace(ROOT, uuid=""))
    assert await store.found_bmcs.record(scan(minutes(15)), [silent]) == []
    other = replace(BMC, identity=replace(ROOT, uuid="cd-2"), how=How.SSDP)
    new = await store.found_bmcs.record(scan(minutes(30)), [other])
    assert [(one.uuid, one.first_seen, one.how) for one in new] == [("cd-2", minutes(31), How.SSDP)]
    assert await store.found_bmcs.all() == new


async def test_a_whole_site_is_kept_and_forgotten(store: Store) -> None:
    """More than one batch; ports of one address are rows of their own."""
    many = [replace(BMC, address=BmcAddress(f"127.20.{number % 250}.1", 443 + number // 250)) for number in range(1100)]
    assert len(await store.found_bmcs.record(scan(minutes(0)), many)) == 1100
    assert await store.found_bmcs.record(scan(minutes(15)), many[:10]) == []
    assert await store.found_bmcs.forget(minutes(10)) == 1090
    assert len(await store.found_bmcs.all()) == 10


async def test_what_boards_say_is_cleaned_first(store: Store) -> None:
    """PostgreSQL keeps no NUL in text, and terminals obey escape sequences."""
    rude = Identity("", "A\0B", "\x1b[31mred\n", "\ud800" + "x" * 5000)
    (kept,) = await store.found_bmcs.record(scan(minutes(0)), [replace(BMC, identity=rude)])
    assert (kept.uuid, kept.vendor, len(kept.product)) == ("ab", "[31mred", 199)
    assert await store.found_bmcs.all() == [kept]


@pytest.mark.parametrize("workers", [1, 6])
async def test_one_worker_looks_at_a_time(store: Store, workers: int) -> None:
    async def claims(at: float) -> int:
        return sum(await asyncio.gather(*(store.found_bmcs.claim(minutes(at), QUARTER) for _ in range(workers))))

    assert await claims(0) == 1
    assert await store.found_bmcs.last_scan() is None
    assert await claims(14) == 0
    assert await claims(15) == 1
    await store.found_bmcs.record(scan(minutes(15)), [])
    assert await claims(29) == 0
    assert await claims(30) == 1
    assert await store.found_bmcs.last_scan() == scan(minutes(15))
    assert await claims(-600) == 1  # the clock was set back
