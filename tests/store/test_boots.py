"""Boot tickets."""

from dataclasses import replace

import pytest

from provisioner.errors import Conflict, NotFound
from provisioner.models.boot import BootTicket
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
    assert await store.boots.by_key(Secret("key-2")) is None


async def test_tickets_are_found_by_key_and_by_token(store: Store) -> None:
    await add_nodes(store)
    assert await store.boots.latest(N1) is None
    tickets = [another(1, 1, 9), another(2, 1, 10), another(3, 2, 1)]
    for ticket in tickets:
        await store.boots.open(ticket)
    assert await store.boots.latest(N1) == tickets[-1]
    assert await store.boots.latest(N2) is None
    for ticket in tickets:
        assert await store.boots.by_key(ticket.key) == ticket
        assert await store.boots.by_token(ticket.token) == ticket
    assert await store.boots.by_key(Secret("token-1")) is None


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
