"""Credentials of BMCs."""

import asyncio
import re

import pytest

from provisioner.errors import Conflict, NotFound
from provisioner.models.identifiers import NodeName
from provisioner.models.secret import Credentials, Secret
from provisioner.store.opening import Store
from provisioner.store.passwords import generate_password
from tests.store.nodes import N1, N2, add_nodes

LABEL = Credentials("ADMIN", Secret("from-the-label"))


async def test_the_label_works_until_our_password_is_confirmed(store: Store) -> None:
    await add_nodes(store)
    assert await store.vault.current(N1) is None
    await store.vault.put_factory(N1, LABEL)
    proposed, sent = await store.vault.propose(N1)
    assert not sent
    assert proposed.username == "ADMIN"
    assert (await store.vault.current(N1), await store.vault.is_ours(N1)) == (LABEL, False)
    await store.vault.confirm(N1)
    assert (await store.vault.current(N1), await store.vault.is_ours(N1)) == (proposed, True)
    assert await store.vault.current(N2) is None


async def test_a_proposal_stays_the_same_until_it_is_confirmed_and_tells_whether_it_was_sent(store: Store) -> None:
    """A crash between sending a password and keeping it would lock us out."""
    await add_nodes(store)
    await store.vault.put_factory(N1, LABEL)
    first, _ = await store.vault.propose(N1)
    assert await store.vault.propose(N1) == (first, False)
    await store.vault.sending(N1)
    assert await store.vault.propose(N1) == (first, True)
    assert await store.vault.current(N1) == LABEL
    await store.vault.confirm(N1)
    await store.vault.confirm(N1)
    second, sent = await store.vault.propose(N1)
    assert second != first
    assert not sent
    assert await store.vault.current(N1) == first


async def test_the_label_never_replaces_our_password(store: Store) -> None:
    await add_nodes(store)
    await store.vault.put_factory(N1, LABEL)
    proposed, _ = await store.vault.propose(N1)
    await store.vault.confirm(N1)
    await store.vault.put_factory(N1, Credentials("root", Secret("calvin")))
    assert (await store.vault.current(N1), await store.vault.is_ours(N1)) == (proposed, True)


async def test_what_a_person_read_from_the_label_replaces_a_password_that_does_not_work_any_more(store: Store) -> None:
    await add_nodes(store)
    await store.vault.put_factory(N1, LABEL)
    await store.vault.propose(N1)
    await store.vault.confirm(N1)
    await store.vault.propose(N1)
    await store.vault.sending(N1)
    other_board = Credentials("root", Secret("from-another-label"))
    await store.vault.replace(N1, other_board)
    assert (await store.vault.current(N1), await store.vault.is_ours(N1)) == (other_board, False)
    proposed, sent = await store.vault.propose(N1)
    assert (proposed.username, sent) == ("root", False)


async def test_workers_that_propose_at_once_propose_the_same(store: Store) -> None:
    await add_nodes(store)
    await store.vault.put_factory(N1, LABEL)
    proposals = await asyncio.gather(*(store.vault.propose(N1) for _ in range(8)))
    assert len(set(proposals)) == 1


async def test_nothing_is_changed_where_nothing_is_known(store: Store) -> None:
    await add_nodes(store)
    with pytest.raises(NotFound, match=N1):
        await store.vault.propose(N1)
    with pytest.raises(Conflict):
        await store.vault.sending(N1)
    with pytest.raises(Conflict):
        await store.vault.confirm(N1)
    with pytest.raises(NotFound):
        await store.vault.put_factory(NodeName("r99-u01"), LABEL)


def test_passwords_are_what_every_bmc_takes() -> None:
    """Dell, Supermicro and OpenBMC take 20 characters, and want more than one class of them."""
    passwords = {generate_password().reveal() for _ in range(200)}
    assert len(passwords) == 200
    for password in passwords:
        assert re.fullmatch(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9]{20}", password)


async def test_a_password_that_is_managed_elsewhere_is_in_force_and_stays(store: Store) -> None:
    """BMC accounts of a directory or a vault of the site; a BMC without an AccountService cannot change any."""
    await add_nodes(store)
    await store.vault.put_kept(N1, LABEL)
    assert (await store.vault.current(N1), await store.vault.is_ours(N1)) == (LABEL, True)
    await store.vault.put_kept(N1, Credentials("root", Secret("rotated")))
    assert await store.vault.current(N1) == Credentials("root", Secret("rotated"))
