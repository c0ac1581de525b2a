"""Nodes are found by who they say they are and by their ports, and what was seen of them is told once."""

from dataclasses import replace

import pytest

from provisioner.models.boot import Asker
from provisioner.models.event import EventKind
from provisioner.models.inventory import Identity
from provisioner.store.opening import Store
from tests.store.nodes import N1, N2, add_nodes, minutes
from tests.store.test_documents import INVENTORY

UUID = "0f5c4c2e-6f0f-4a44-9a53-1d2f6f4f5a6b"
TURNED = "2e4c5c0f-0f6f-444a-9a53-1d2f6f4f5a6b"


async def test_a_node_is_found_by_serial_number_and_uuid(store: Store) -> None:
    """Both, in any case and in either byte order (DSP0134, 7.2.1)."""
    await add_nodes(store)
    await store.nodes.identify(N1, Identity("MX1201C4", UUID, "Acme", "G8"))
    for serial, uuid in (("MX1201C4", UUID), (" mx1201c4", UUID.upper()), ("MX1201C4", TURNED)):
        found = await store.boots.askers.by_identity(serial, uuid)
        assert found == Asker(await store.nodes.get(N1), None)
    for serial, uuid in (("", UUID), ("MX1201C4", ""), ("", ""), ("MX1201C4", "0" * 36), ("MX1201C5", UUID)):
        assert await store.boots.askers.by_identity(serial, uuid) is None


async def test_two_boards_with_one_name_are_nobody(store: Store) -> None:
    """Boards leave the factory with the same filler in place of both."""
    await add_nodes(store)
    for name in (N1, N2):
        await store.nodes.identify(name, Identity("Default string", UUID, "Acme", "G8"))
    assert await store.boots.askers.by_identity("Default string", UUID) is None


@pytest.mark.parametrize("mac", ["a0:88:c2:00:00:01", "A0-88-C2-00-00-01", "A088C2000001"])
async def test_a_node_is_found_by_a_port_of_its_last_inventory(store: Store, mac: str) -> None:
    await add_nodes(store)
    assert await store.boots.askers.by_port(mac) is None
    macs = ("A0:88:C2:00:00:01", "a0:88:c2:00:00:01", "a0:88:c2:00:00:02", "00:00:00:00:00:00", "")
    await store.documents.put_inventory(N1, replace(INVENTORY, macs=macs), minutes(1))
    found = await store.boots.askers.by_port(mac)
    assert found is not None
    assert found.node.name == N1
    assert await store.boots.askers.by_port("00:00:00:00:00:00") is None
    await store.documents.put_inventory(N1, replace(INVENTORY, macs=macs[2:]), minutes(2))
    assert await store.boots.askers.by_port(mac) is None


async def test_a_card_in_two_inventories_is_nobodys_until_both_are_read_again(store: Store) -> None:
    await add_nodes(store)
    for name in (N1, N2):
        await store.documents.put_inventory(name, INVENTORY, minutes(1))
    assert await store.boots.askers.by_port(INVENTORY.macs[0]) is None
    await store.documents.put_inventory(N1, replace(INVENTORY, macs=()), minutes(2))
    found = await store.boots.askers.by_port(INVENTORY.macs[0])
    assert found is not None
    assert found.node.name == N2


async def test_what_was_seen_is_told_once(store: Store) -> None:
    """A step that runs again after a crash tells it again."""
    await add_nodes(store)
    for what in ("no HTTP boot", "no HTTP boot", "a fan is slow", "no HTTP boot"):
        await store.nodes.tell(N1, what, minutes(1))
    told = [event for event in await store.events.of(N1) if event.kind is EventKind.OBSERVED]
    assert [event.reason for event in told] == ["no HTTP boot", "a fan is slow", "no HTTP boot"]
    assert {event.at for event in told} == {minutes(1)}
