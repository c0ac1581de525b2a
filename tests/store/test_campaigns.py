"""Campaigns and findings in the store, on both databases."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from provisioner.campaigns.intents import Begin, Fail, Record, Stop, apply
from provisioner.errors import Conflict, NotFound
from provisioner.models.campaign import Campaign, CampaignState, Member
from provisioner.models.drift import DriftFinding, FindingKind, FirmwareReading
from provisioner.store.opening import Store
from tests.campaigns.samples import campaign_of
from tests.store.nodes import N1, N2, add_nodes, minutes

MINUTE = timedelta(minutes=1)


def a_campaign(name: str = "spring", *nodes: str, at: float = 0) -> Campaign:
    members = tuple(Member(node, "r01") for node in nodes or (N1, N2))  # type: ignore[arg-type]  # names of nodes
    return replace(campaign_of({}), name=name, members=members, started_at=minutes(at))


async def test_what_is_kept_is_what_is_read(store: Store) -> None:
    await add_nodes(store)
    begun = a_campaign()
    assert await store.campaigns.add(begun)
    assert await store.campaigns.get("spring") == begun
    records: list[Record] = [Begin(N1, 1, "canary"), Fail(N1, "held: no power"), Stop("r01-u01: held: no power")]
    after = apply(begun, records, minutes(5))
    assert await store.campaigns.keep(begun, after, minutes(5), told=["stopped"], nodes={N1: "unexplained"})
    assert await store.campaigns.get("spring") == replace(after, revision=1)
    assert [(one.at, one.what) for one in await store.campaigns.history("spring")] == [
        (minutes(0), "started by ann"),
        (minutes(5), "stopped"),
    ]
    assert (await store.events.of(N1))[-1].reason == "unexplained"
    counts = await store.campaigns.counts()
    assert (counts[CampaignState.STOPPED], counts[CampaignState.RUNNING]) == (1, 0)


async def test_of_two_that_change_it_at_once_one_wins(store: Store) -> None:
    await add_nodes(store)
    seen = a_campaign()
    await store.campaigns.add(seen)
    changed = [apply(seen, [Begin(node, 1, "canary")], minutes(1)) for node in (N1, N2)]
    kept = [store.campaigns.keep(seen, one, minutes(1), told=["kept"], nodes={}) for one in changed]
    won = await asyncio.gather(*kept)
    assert sum(won) == 1
    assert await store.campaigns.get("spring") == replace(changed[won.index(True)], revision=1)
    assert len(await store.campaigns.history("spring")) == 2


async def test_a_node_is_in_one_campaign_at_a_time(store: Store) -> None:
    """Also where two are started at once."""
    await add_nodes(store)
    added = [store.campaigns.add(a_campaign(name, N1)) for name in ("a", "b", "c", "d")]
    done = await asyncio.gather(*added, return_exceptions=True)
    assert done.count(True) == 1
    assert sum(isinstance(one, Conflict) for one in done) == 3
    first = (await store.campaigns.unended())[0]
    assert not await store.campaigns.add(a_campaign(first, N2)), "its name is taken"
    seen = await store.campaigns.get(first)
    await store.campaigns.keep(seen, replace(seen, ended_at=minutes(9)), minutes(9), told=[], nodes={})
    assert await store.campaigns.add(a_campaign("after", N1))
    with pytest.raises(NotFound):
        await store.campaigns.add(a_campaign("who", "r99-u99"))


async def test_one_worker_has_it_at_a_time_and_a_dead_one_loses_it(store: Store) -> None:
    await add_nodes(store)
    await store.campaigns.add(a_campaign())

    async def claims(at: float, *workers: str) -> list[str]:
        asked = [store.campaigns.claim("spring", one, minutes(at), minutes(at) + MINUTE) for one in workers]
        return [one for one, won in zip(workers, await asyncio.gather(*asked), strict=True) if won]

    (first,) = await claims(0, "a", "b", "c")
    other = "b" if first == "a" else "a"
    assert await claims(0.5, other) == []
    assert await claims(0.9, first) == [first]
    assert await claims(1.5, other) == []
    assert await claims(1.9, other) == [other]
    assert await claims(2, first) == []
    assert not await store.campaigns.claim("none", "a", minutes(0), minutes(1))


async def test_a_move_is_asked_for_once_more(store: Store) -> None:
    await add_nodes(store)
    seen = a_campaign()
    await store.campaigns.add(seen)
    assert not await store.campaigns.may_move("spring", N1, 1)
    begun = apply(seen, [Begin(N1, 1, "canary")], minutes(1))
    await store.campaigns.keep(seen, begun, minutes(1), told=[], nodes={})
    assert await store.campaigns.may_move("spring", N1, 1)
    assert not await store.campaigns.may_move("spring", N1, 2)
    assert not await store.campaigns.may_move("spring", N2, 1)
    now = await store.campaigns.get("spring")
    await store.campaigns.keep(now, replace(now, state=CampaignState.PAUSED), minutes(2), told=[], nodes={})
    assert not await store.campaigns.may_move("spring", N1, 1)


async def test_pages_are_newest_first_and_stay_in_order(store: Store) -> None:
    await add_nodes(store, 8)
    for number in range(6):
        assert await store.campaigns.add(a_campaign(f"c{number}", f"r01-u0{number + 1}", at=number // 2))
    names = [one.name for one in await store.campaigns.page(None, None, 4)]
    assert names == ["c5", "c4", "c3", "c2"]
    assert [one.name for one in await store.campaigns.page(None, "c2", 4)] == ["c1", "c0"]
    assert [one.name for one in await store.campaigns.page(CampaignState.RUNNING, "c5", 1)] == ["c4"]
    assert await store.campaigns.page(CampaignState.DONE, None, 4) == []
    with pytest.raises(NotFound):
        await store.campaigns.page(None, "none", 4)


async def test_readings_replace_one_another_and_a_try_leaves_the_last_answer(store: Store) -> None:
    await add_nodes(store)
    first = FirmwareReading(N1, 1, minutes(0), {"bmc": (("BMC", "1.2"), ("BMC_2", None))})
    await store.drift.try_(N1, 1, minutes(0))
    assert (await store.drift.readings(), await store.drift.tried()) == ([], [(N1, 1, minutes(0))])
    await store.drift.read(first)
    await store.drift.try_(N1, 2, minutes(9))
    assert (await store.drift.readings(), await store.drift.tried()) == ([first], [(N1, 2, minutes(9))])


async def test_findings_appear_change_and_go_and_only_the_first_and_last_are_told(store: Store) -> None:
    await add_nodes(store)
    odd = DriftFinding(FindingKind.POOL_DIFFERS, "pool p", "bmc", "1.2", {"1.2": (N1,), "1.1": (N2,)})
    assert await store.drift.stand([odd], minutes(1)) == (1, 0)
    worse = replace(odd, versions={"1.2": (N1,), "1.0": (N2,)})
    assert await store.drift.stand([worse], minutes(2)) == (0, 0)
    (standing,) = await store.drift.findings()
    assert (standing.finding, standing.since) == (worse, minutes(1))
    assert await store.drift.stand([], minutes(3)) == (0, 1)
    assert await store.drift.findings() == []
    told = [event.reason for event in await store.events.of(N2)][1:]
    assert told == [f"firmware drift: {odd.told}", f"firmware drift is gone: {worse.told}"]


async def test_of_several_workers_one_makes_each_pass(store: Store) -> None:
    async def claims(at: float) -> int:
        return sum(await asyncio.gather(*(store.drift.claim(minutes(at), MINUTE) for _ in range(4))))

    assert [await claims(at) for at in (0, 0.5, 1, 1.5, 2)] == [1, 0, 1, 0, 1]
