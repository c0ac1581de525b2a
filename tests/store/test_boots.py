"""Boot tickets."""

import asyncio
from dataclasses import replace

import pytest

from provisioner.errors import Conflict, NotFound
from provisioner.models.boot import Asker, BootFailure, BootTicket, FailureKind
from provisioner.models.secret import Secret
from provisioner.store.opening import Store
from tests.store.nodes import N1, N2, add_nodes, minutes

TICKET = BootTicket(
    node=N1,
    generation=1,
    attempt=1,
    key=Secret("key-1"),
    token=Secret("token-1"),
    image="sha256:aa",
    root="sha256:bb",
    served=0,
    boot_id=None,
    registered_at=None,
    booted_image=None,
    booted_root=None,
)


def another(number: int, generation: int, attempt: int) -> BootTicket:
    """Return a ticket for a later boot of the same node."""
    key, token = Secret(f"key-{number}"), Secret(f"token-{number}")
    return replace(TICKET, generation=generation, attempt=attempt, key=key, token=token)


async def test_opening_again_gives_the_ticket_that_is_there(store: Store) -> None:
    await add_nodes(store)
    assert await store.boots.open(TICKET) == TICKET
    assert await store.boots.open(another(2, 1, 1)) == TICKET
    assert await store.boots.askers.by_key(Secret("key-2")) is None


async def test_tickets_are_found_by_key_and_by_token(store: Store) -> None:
    await add_nodes(store)
    assert await store.boots.latest(N1) is None
    tickets = [another(1, 1, 9), another(2, 1, 10), another(3, 2, 1)]
    for ticket in tickets:
        await store.boots.open(ticket)
    assert await store.boots.latest(N1) == tickets[-1]
    assert await store.boots.latest(N2) is None
    for ticket in tickets:
        assert await store.boots.by_token(ticket.token) == ticket
    assert await store.boots.by_token(Secret("key-1")) is None


async def test_whoever_has_a_key_is_told_of_the_newest_boot_of_its_node(store: Store) -> None:
    """An old key says whose it is, and is told apart by the newest ticket: by generation, then attempt, as numbers."""
    await add_nodes(store)
    tickets = [another(1, 1, 9), another(2, 1, 10), another(3, 2, 1), replace(another(4, 3, 3), node=N2)]
    for ticket in tickets:
        await store.boots.open(ticket)
    asker = Asker(await store.nodes.get(N1), tickets[2])
    for ticket in tickets[:3]:
        assert await store.boots.askers.by_key(ticket.key) == asker
    assert await store.boots.askers.by_key(tickets[3].key) == Asker(await store.nodes.get(N2), tickets[3])
    assert await store.boots.askers.by_key(Secret("token-1")) is None


async def test_answers_of_the_boot_endpoint_are_counted(store: Store) -> None:
    await add_nodes(store)
    await store.boots.open(TICKET)
    for _ in range(3):
        await store.boots.served(TICKET)
    ticket = await store.boots.latest(N1)
    assert ticket is not None
    assert ticket.served == 3


async def test_only_one_boot_uses_a_token(store: Store) -> None:
    await add_nodes(store)
    await store.boots.open(TICKET)
    first = await store.boots.registered(TICKET, "boot-1", "sha256:aa", "sha256:bb", minutes(1))
    assert (first.boot_id, first.registered_at, first.booted_image) == ("boot-1", minutes(1), "sha256:aa")
    assert await store.boots.registered(TICKET, "boot-1", "sha256:aa", "sha256:bb", minutes(2)) == first
    with pytest.raises(Conflict, match="boot-1"):
        await store.boots.registered(TICKET, "boot-2", "sha256:aa", "sha256:bb", minutes(3))
    assert await store.boots.by_token(TICKET.token) == first


async def test_a_ticket_that_was_never_opened_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        await store.boots.open(TICKET)
    await add_nodes(store)
    with pytest.raises(NotFound):
        await store.boots.served(TICKET)
    with pytest.raises(NotFound):
        await store.boots.registered(TICKET, "boot-1", "sha256:aa", "sha256:bb", minutes(1))


async def test_two_boots_never_share_a_key(store: Store) -> None:
    await add_nodes(store)
    await store.boots.open(TICKET)
    with pytest.raises(Conflict):
        await store.boots.open(replace(TICKET, node=N2))


async def test_programs_and_askers_are_counted_beside(store: Store) -> None:
    """A program that was fetched and asked for no words was refused by the firmware."""
    await add_nodes(store)
    await store.boots.open(TICKET)
    await store.boots.served(TICKET)
    await store.boots.served(TICKET, program=True)
    await store.boots.asked(TICKET)
    kept = await store.boots.latest(N1)
    assert kept is not None
    assert (kept.served, kept.programs, kept.asked) == (2, 1, 1)


async def test_a_hall_that_comes_up_at_once_is_counted_to_the_last_node(store: Store) -> None:
    """Counts that wait share a commit, and whoever does not exist hears of it."""
    await add_nodes(store, 20)
    nodes = await store.nodes.all()
    tickets = [replace(another(number, 1, 1), node=one.name) for number, one in enumerate(nodes)]
    for ticket in tickets:
        await store.boots.open(ticket)
    unknown = replace(TICKET, attempt=9)
    counted = [store.boots.served(ticket) for ticket in tickets * 5] + [store.boots.served(unknown)]
    done = await asyncio.gather(*counted, return_exceptions=True)
    assert [type(one) for one in done if one is not None] == [NotFound]
    for ticket in tickets:
        kept = await store.boots.latest(ticket.node)
        assert kept is not None
        assert kept.served == 5


async def test_a_count_whose_asker_has_gone_is_kept_all_the_same(store: Store) -> None:
    await add_nodes(store)
    await store.boots.open(TICKET)
    gone = asyncio.ensure_future(store.boots.served(TICKET))
    await asyncio.sleep(0)
    gone.cancel()
    await store.boots.served(TICKET)
    kept = await store.boots.latest(N1)
    assert kept is not None
    assert kept.served == 2


async def test_what_may_be_served_grows_and_never_shrinks(store: Store) -> None:
    await add_nodes(store)
    await store.boots.open(TICKET)
    for asked, allowed in ((24, 24), (12, 24), (36, 36)):
        assert (await store.boots.allow(TICKET, asked)).most_served == allowed


async def test_a_refused_way_is_remembered_once(store: Store) -> None:
    await add_nodes(store)
    await store.boots.open(TICKET)
    for target in ("UefiHttp", "Pxe", "UefiHttp"):
        await store.boots.refused(TICKET, target)
    kept = await store.boots.latest(N1)
    assert kept is not None
    assert kept.refused == ("UefiHttp", "Pxe")


async def test_one_boot_fails_once(store: Store) -> None:
    """An initrd whose answer was lost reports again; the next boot may fail in the same way."""
    await add_nodes(store)
    await store.boots.open(TICKET)
    first = BootFailure(FailureKind.FETCH, 'http://mirror/… : no route — "x"', minutes(1), 0)
    for _ in range(2):
        await store.boots.served(TICKET)
        for at in (1, 2):
            await store.boots.failed(TICKET, replace(first, at=minutes(at)))
    kept = await store.boots.by_token(TICKET.token)
    assert kept is not None
    assert kept.failures == (replace(first, served=1), replace(first, served=2))
    for act in (store.boots.failed(another(1, 9, 9), first), store.boots.refused(another(1, 9, 9), "Pxe")):
        with pytest.raises(NotFound):
            await act
