"""Channels in the store, on both databases."""

import asyncio

import pytest

from provisioner.errors import NotFound
from provisioner.models.audit import AuditEntry
from provisioner.models.channel import Channel, Movement, Pointer
from provisioner.models.identifiers import ReleaseDigest
from provisioner.store.channels import move
from provisioner.store.opening import Store
from tests.promotion.samples import a_release
from tests.store.nodes import minutes

H100 = "hgx-h100-8gpu"
PLACE = (Channel.CANARY, H100)


async def two_releases(store: Store) -> tuple[ReleaseDigest, ReleaseDigest]:
    """Two releases of one hardware class."""
    first, second = a_release("a"), a_release("b")
    for one in (first, second):
        await store.documents.put_release(one)
    return ReleaseDigest(first.digest), ReleaseDigest(second.digest)


def movement(revision: int, release: ReleaseDigest, promotion: str | None = "p1") -> Movement:
    return Movement(revision, release, minutes(revision), "ann", "spring", promotion)


async def moved(store: Store, one: Movement) -> bool:
    return await store.database.write(lambda connection: move(connection, PLACE, one))


def audit(revision: int, release: ReleaseDigest) -> AuditEntry:
    return AuditEntry(minutes(revision), "ann", "channel.rollback", f"canary/{H100}", after=release)


async def test_a_pointer_stands_where_it_was_moved_to_and_tells_its_history(store: Store) -> None:
    old, new = await two_releases(store)
    assert await store.channels.current("canary", H100) is None
    assert await store.channels.pointer(*PLACE) is None
    assert await moved(store, movement(1, old))
    assert await moved(store, movement(2, new))
    assert await store.channels.current("canary", H100) == new
    assert await store.channels.current("production", H100) is None
    pointer = Pointer(Channel.CANARY, H100, new, 2, minutes(2), "ann")
    assert await store.channels.pointer(*PLACE) == pointer
    assert await store.channels.pointers() == [pointer]
    assert await store.channels.history(*PLACE) == [movement(1, old), movement(2, new)]


async def test_a_pointer_moves_once_from_what_was_seen(store: Store) -> None:
    """Four roll it back at once: one does, and one line of the audit log says so."""
    old, new = await two_releases(store)
    await moved(store, movement(1, old))
    await moved(store, movement(2, new))
    seen = await store.channels.pointer(*PLACE)
    assert seen is not None
    back = movement(3, old, promotion=None)
    done = await asyncio.gather(*(store.channels.roll_back(seen, back, audit=audit(3, old)) for _ in range(4)))
    assert sorted(done) == [False, False, False, True]
    assert await store.channels.current("canary", H100) == old
    assert len(await store.channels.history(*PLACE)) == 3
    assert len(await store.audit.page(0, 10)) == 1


async def test_the_first_move_is_made_once_too(store: Store) -> None:
    old, new = await two_releases(store)
    assert await moved(store, movement(1, old))
    assert not await moved(store, movement(1, new))
    assert not await moved(store, movement(3, new))
    assert await store.channels.current("canary", H100) == old


async def test_no_pointer_names_a_release_that_is_not_kept(store: Store) -> None:
    with pytest.raises(NotFound):
        await moved(store, movement(1, ReleaseDigest("sha256:" + "0" * 64)))
    assert await store.channels.pointers() == []
