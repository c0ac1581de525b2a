"""Promotions, soaks and releases in the store, on both databases."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from profiles.release_constraints import ReleaseConstraints
from provisioner.capabilities.cipher import Cipher
from provisioner.capabilities.promotions import PromotionQuery
from provisioner.errors import NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.channel import Channel, Movement
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.promotion import Approval, GateName, Promotion, PromotionLine, PromotionState, Waiver
from provisioner.promotion.gates import judge
from provisioner.promotion.policy import DEFAULTS
from provisioner.promotion.soak import Sighting, Soak
from provisioner.promotion.step import end
from provisioner.store.opening import Store, open_store
from tests.promotion.samples import H100, NOW, a_promotion, a_release, good_facts, gpu_release
from tests.store.nodes import N1, N2, add_nodes, minutes
from tests.store.test_schema import engine, migrate_to

HOUR = timedelta(hours=1)


def audit(what: str, subject: str = "p1") -> AuditEntry:
    return AuditEntry(NOW, "ann", what, subject)


async def put(store: Store, *images: str) -> list[ReleaseDigest]:
    """Keep releases whose images have these digits."""
    for image in images:
        await store.documents.put_release(gpu_release(image))
    return [ReleaseDigest(gpu_release(image).digest) for image in images]


async def requested(store: Store, image: str = "a", name: str = "p1", minute: float = 0) -> Promotion:
    at = NOW + timedelta(minutes=minute)
    asked = a_promotion(gpu_release(image), id=name, requested_at=at)
    return await store.promotions.request(asked, audit=audit("promotion.request", name))


def applied(promotion: Promotion) -> Promotion:
    return end(promotion, PromotionState.APPLIED, NOW, "")


async def test_what_is_kept_is_what_is_read(store: Store) -> None:
    await put(store, "a")
    asked = await requested(store)
    gates = judge(asked, good_facts(gpu_release()), DEFAULTS[Channel.CANARY], NOW)
    waiver = Waiver(GateName.SOAK, "the lab is down", "bob", NOW, NOW + HOUR, "eve")
    changed = replace(asked, gates=gates, approvals=(Approval("eve", NOW),), waivers=(waiver,), since=NOW)
    assert await store.promotions.keep(asked, changed, PromotionLine(NOW, "checking"))
    assert await store.promotions.get("p1") == replace(changed, revision=1)
    assert [one.what for one in await store.promotions.history("p1")] == ["requested by ann", "checking"]
    assert not await store.promotions.keep(asked, changed, PromotionLine(NOW, "again")), "somebody was faster"
    assert len(await store.promotions.history("p1")) == 2
    with pytest.raises(NotFound):
        await store.promotions.get("p2")


async def test_the_same_release_again_is_the_same_promotion(store: Store) -> None:
    """However often it is requested at once."""
    await put(store, "a")
    found = await asyncio.gather(*(requested(store, name=f"p{number}") for number in range(8)))
    assert len({one.id for one in found}) == 1
    assert len(await store.audit.page(0, 10)) == 1


async def test_another_release_supersedes_it_in_one_transaction(store: Store) -> None:
    """Of two candidates one is open, whoever comes first."""
    await put(store, "a", "b")
    await asyncio.gather(requested(store, "a", "p1"), requested(store, "b", "p2"))
    ids = await store.promotions.unended()
    assert len(ids) == 1
    other = {"p1", "p2"} - set(ids)
    ended = await store.promotions.get(other.pop())
    assert (ended.state, ended.ended_at) == (PromotionState.SUPERSEDED, NOW)
    assert (await store.promotions.history(ended.id))[-1].what.startswith("superseded: ann requested")


async def test_applied_and_moved_is_one_thing(store: Store) -> None:
    (new,) = await put(store, "a")
    asked = await requested(store)
    movement = Movement(1, new, NOW, "ann", "the new driver", "p1")
    tried = [store.promotions.apply(asked, applied(asked), movement, audit=audit("promotion.apply")) for _ in range(4)]
    assert sorted(await asyncio.gather(*tried)) == [False, False, False, True]
    assert (await store.promotions.get("p1")).state is PromotionState.APPLIED
    assert await store.channels.current("canary", H100) == new
    assert await store.channels.history(Channel.CANARY, H100) == [movement]
    assert [one.entry.what for one in await store.audit.page(0, 10)] == ["promotion.request", "promotion.apply"]
    assert await store.promotions.unended() == []


@pytest.mark.parametrize("revision", [1, 3])
async def test_where_the_pointer_has_moved_nothing_is_applied(store: Store, revision: int) -> None:
    old, new = await put(store, "a", "b")
    first = await requested(store)
    moved = Movement(1, old, NOW, "ann", "", "p1")
    assert await store.promotions.apply(first, applied(first), moved, audit=audit("promotion.apply"))
    asked = await requested(store, "b", "p2")
    late = Movement(revision, new, NOW, "ann", "", "p2")
    assert not await store.promotions.apply(asked, applied(asked), late, audit=audit("promotion.apply"))
    assert await store.promotions.get("p2") == asked
    assert len(await store.promotions.history("p2")) == 1
    assert len(await store.audit.page(0, 10)) == 3
    assert await store.channels.current("canary", H100) == old


async def test_pages_are_newest_first(store: Store) -> None:
    await put(store, "a", "b", "c")
    for minute, image in enumerate("abc"):
        await requested(store, image, f"p{minute}", minute)
    one = await store.promotions.page(PromotionQuery(), None, 2)
    two = await store.promotions.page(PromotionQuery(), one[-1].id, 2)
    assert [[each.id for each in page] for page in (one, two)] == [["p2", "p1"], ["p0"]]
    gone = await store.promotions.page(PromotionQuery(PromotionState.SUPERSEDED, Channel.CANARY, H100), None, 9)
    assert [each.id for each in gone] == ["p1", "p0"]
    assert not await store.promotions.page(PromotionQuery(channel=Channel.DEV), None, 9)
    with pytest.raises(NotFound):
        await store.promotions.page(PromotionQuery(), "p9", 9)


async def test_what_was_decided_and_not_signed_is_found(store: Store) -> None:
    await put(store, "a")
    asked = await requested(store)
    assert await store.promotions.undecided() == []
    ended = end(asked, PromotionState.REJECTED, NOW, "no")
    await store.promotions.keep(asked, ended, None)
    (found,) = await store.promotions.undecided()
    assert await store.promotions.keep(found, replace(found, decision="sha256:1"), None)
    assert await store.promotions.undecided() == []


class TestSoak:
    """Seconds that were seen, and no others."""

    def seen(self, release: ReleaseDigest) -> list[Sighting]:
        return [Sighting(release, N1, "r01"), Sighting(release, N2, "r02")]

    async def test_each_node_grows_and_the_release_once(self, store: Store) -> None:
        await add_nodes(store)
        a, b = await put(store, "a", "b")
        assert await store.soaks.turn() is None
        assert await store.soaks.grow(None, minutes(0), self.seen(a), timedelta(0))
        assert (await store.soaks.of([a, b])) == {a: Soak(), b: Soak()}
        for minute in range(30):
            more = [*self.seen(a)[: 1 if minute < 15 else 2], Sighting(b, N2, "r02")]
            assert await store.soaks.grow(minutes(minute), minutes(minute + 1), more, timedelta(minutes=2))
        found = await store.soaks.of([a, b])
        assert [found[a].hours, found[a].node_hours, found[b].node_hours] == pytest.approx([1.0, 1.5, 1.0])
        assert (found[a].domains, found[a].nodes) == (2, 2)
        assert (found[b].domains, found[b].nodes) == (1, 1)

    async def test_of_many_that_count_at_once_one_does(self, store: Store) -> None:
        await add_nodes(store)
        (a,) = await put(store, "a")
        await store.soaks.grow(None, minutes(0), (), timedelta(0))
        done = [store.soaks.grow(minutes(0), minutes(1), self.seen(a), timedelta(minutes=1)) for _ in range(6)]
        assert sum(await asyncio.gather(*done)) == 1
        assert (await store.soaks.of([a]))[a].hours == pytest.approx(1 / 60)
        assert await store.soaks.turn() == minutes(1)


async def test_equal_content_is_one_release_and_has_one_maker(store: Store) -> None:
    release = a_release()
    digest = ReleaseDigest(release.digest)
    entry = audit("release.create", digest)
    made = [store.release_records.add(release, "ann", minutes(1), audit=entry) for _ in range(4)]
    assert sorted(await asyncio.gather(*made)) == [False, False, False, True]
    assert not await store.release_records.add(release, "eve", minutes(2), audit=entry)
    record = await store.release_records.record(digest)
    assert (record.name, record.hardware_class) == (release.name, H100)
    assert (record.made_by, record.made_at) == ("ann", minutes(1))
    assert len(await store.audit.page(0, 10)) == 1
    assert await store.documents.release(digest) == release


async def test_what_the_configuration_brought_belongs_to_who_makes_it_first(store: Store) -> None:
    (digest,) = await put(store, "a")
    assert (await store.release_records.record(digest)).made_by is None
    assert not await store.release_records.add(gpu_release(), "ann", minutes(1), audit=audit("release.create"))
    assert (await store.release_records.record(digest)).made_by == "ann"
    assert len(await store.audit.page(0, 10)) == 1


async def test_releases_come_newest_first_and_those_without_a_time_last(store: Store) -> None:
    await put(store, "d", "e")
    for minute, image in enumerate("abc"):
        await store.release_records.add(a_release(image), "ann", minutes(minute), audit=audit("release.create"))
    bound = a_release(name="gb200-2026-1").model_copy(update={"constraints": ReleaseConstraints()})
    await store.release_records.add(bound, "ann", minutes(1), audit=audit("release.create"))
    digests: list[ReleaseDigest] = []
    while True:
        page = await store.release_records.page(None, digests[-1] if digests else None, 2)
        digests += [one.digest for one in page]
        if len(page) < 2:
            break
    made = [(await store.release_records.record(one)).made_at for one in digests]
    assert made == [minutes(2), minutes(1), minutes(1), minutes(0), None, None]
    assert len(set(digests)) == 6
    assert len(await store.release_records.page("gb200-compute-tray", None, 9)) == 1
    with pytest.raises(NotFound):
        await store.release_records.page(None, ReleaseDigest("sha256:0"), 9)


async def test_releases_of_an_older_program_tell_what_they_are_called(empty_url: str, cipher: Cipher) -> None:
    release = a_release()
    migrate_to(empty_url, "v0009")
    with engine(empty_url).begin() as connection:
        values = {"digest": release.digest, "document": release.model_dump_json(exclude={"constraints"})}
        connection.execute(text("INSERT INTO releases (digest, document) VALUES (:digest, :document)"), values)
    store = open_store(empty_url, cipher)
    (record,) = await store.release_records.page(H100, None, 9)
    assert (record.digest, record.name, record.made_by) == (release.digest, release.name, None)
    assert (await store.documents.release(record.digest)).digest == release.digest
    store.close()
