"""A request is done once, whoever is killed meanwhile. Both databases."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from provisioner.capabilities.request_claims import Claim, ClaimOrder, KeptAnswer, KeyReused, StillRunning
from provisioner.errors import Conflict
from provisioner.models.audit import AuditEntry
from provisioner.store.opening import Store
from tests.store.nodes import START

SOON = timedelta(seconds=30)
ANSWER = KeptAnswer(201, {"location": "/v1/things/1"}, b'{"token": "shown-once"}')


def order(request: str, key: str = "k", body: bytes = b"reason: password-in-the-body", who: str = "ci") -> ClaimOrder:
    return ClaimOrder(request, who, key, body)


def later() -> datetime:
    return datetime.now(UTC) + SOON


def over() -> datetime:
    """A lease that has ended: whose process is dead."""
    return datetime.now(UTC) - SOON


def entry(request: str, subject: str = "thing-1") -> AuditEntry:
    return AuditEntry(START, "ci", "thing.create", subject, request=request)


async def test_an_equal_request_gets_the_answer_of_the_first(store: Store) -> None:
    assert await store.claims.claim(order("r1"), later()) == Claim(None)
    with pytest.raises(StillRunning):
        await store.claims.claim(order("r2"), later())
    await store.audit.record(entry("r1"))
    with pytest.raises(StillRunning):
        await store.claims.claim(order("r2"), later())
    await store.claims.keep("r1", ANSWER)
    for request in ("r3", "r4"):
        assert await store.claims.claim(order(request), later()) == ANSWER


async def test_a_key_belongs_to_one_request_of_one_principal(store: Store) -> None:
    await store.claims.claim(order("r1"), later())
    await store.claims.keep("r1", ANSWER)
    with pytest.raises(KeyReused):
        await store.claims.claim(order("r2", body=b"another"), later())
    assert await store.claims.claim(order("r3", who="anna"), later()) == Claim(None)
    assert await store.claims.claim(order("r4", key="k2"), later()) == Claim(None)


async def test_of_fifty_at_once_one_has_the_work(store: Store) -> None:
    tries = [store.claims.claim(order(f"r{number}"), later()) for number in range(50)]
    results = await asyncio.gather(*tries, return_exceptions=True)
    assert [one for one in results if not isinstance(one, StillRunning)] == [Claim(None)]


async def test_fifty_that_find_a_dead_one_take_it_over_once(store: Store) -> None:
    await store.claims.claim(order("dead"), over())
    await store.audit.record(entry("dead"))
    tries = [store.claims.claim(order(f"r{number}"), later()) for number in range(50)]
    results = await asyncio.gather(*tries, return_exceptions=True)
    assert [one for one in results if not isinstance(one, StillRunning)] == [Claim("thing-1")]


async def test_what_died_before_its_change_is_done_anew_and_can_change_nothing_more(store: Store) -> None:
    """It was stopped, not dead: its transaction comes after another one has taken over."""
    await store.claims.claim(order("slow"), over())
    assert await store.claims.claim(order("next"), later()) == Claim(None)
    with pytest.raises(Conflict, match="another try"):
        await store.audit.record(entry("slow"))
    await store.claims.keep("slow", ANSWER)
    await store.claims.release("slow")
    assert await store.audit.page(0, 10) == []
    with pytest.raises(StillRunning):
        await store.claims.claim(order("r3"), later())
    await store.audit.record(entry("next"))
    assert [line.entry.request for line in await store.audit.page(0, 10)] == ["next"]


async def test_what_died_behind_its_change_is_known_by_it_again_and_again(store: Store) -> None:
    await store.claims.claim(order("r1"), over())
    await store.audit.record(entry("r1"))
    assert await store.claims.claim(order("r2"), over()) == Claim("thing-1")
    assert await store.claims.claim(order("r3"), later()) == Claim("thing-1")
    await store.claims.keep("r3", ANSWER)
    assert await store.claims.claim(order("r4"), later()) == ANSWER


async def test_a_renewed_claim_is_not_taken_over(store: Store) -> None:
    await store.claims.claim(order("r1"), over())
    await store.claims.renew("r1", later())
    with pytest.raises(StillRunning):
        await store.claims.claim(order("r2"), later())


async def test_what_was_refused_may_be_tried_at_once_and_what_changed_something_is_remembered(store: Store) -> None:
    await store.claims.claim(order("r1"), later())
    await store.claims.release("r1")
    assert await store.claims.claim(order("r2", body=b"corrected"), later()) == Claim(None)
    await store.audit.record(entry("r2"))
    await store.claims.release("r2")
    assert await store.claims.claim(order("r3", body=b"corrected"), later()) == Claim("thing-1")


async def test_a_request_without_a_claim_is_just_audited(store: Store) -> None:
    await store.audit.record(entry("no claim"))
    await store.audit.record(entry(""))
    assert len(await store.audit.page(0, 10)) == 2


async def test_old_claims_are_forgotten_and_young_ones_are_not(store: Store) -> None:
    await store.claims.claim(order("r1"), over())
    now = datetime.now(UTC)
    assert await store.claims.forget(now - timedelta(hours=24)) == 0
    assert await store.claims.forget(now + timedelta(seconds=1)) == 1
    assert await store.claims.claim(order("r2", body=b"new"), later()) == Claim(None)
