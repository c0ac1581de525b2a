"""Hosts that asked for an address or for something to boot."""

from dataclasses import replace
from datetime import timedelta

import pytest

from provisioner.models.found_bmc import How, Scan, Sighting
from provisioner.models.found_host import FoundHost, HostHow, Lease
from provisioner.models.inventory import BootAbilities, Identity, Inventory, Power
from provisioner.models.node import BmcAddress
from provisioner.store import found_hosts
from provisioner.store.opening import Store
from tests.store.nodes import add_nodes, minutes

MAC, OTHER = "02:00:00:00:00:01", "02:00:00:00:00:02"
HOUR = timedelta(hours=1)


def host(**fields: object) -> FoundHost:
    """One that asked what to boot."""
    known = FoundHost(MAC, "10.0.0.9", "", "AB-1", "S1", HostHow.BOOT, minutes(0), minutes(0))
    return replace(known, **fields)  # type: ignore[arg-type]  # fields of FoundHost


def lease(mac: str = MAC, address: str = "10.0.0.50", at: float = 0, client_class: str = "") -> Lease:
    """One hour."""
    return Lease(mac, address, minutes(at), minutes(at) + HOUR, client_class)


async def test_what_a_host_says_is_added_to_what_is_known(store: Store) -> None:
    assert await store.hosts.note(host())
    later = host(mac=MAC.upper().replace(":", "-"), uuid="", serial="S2", client_class="x86_64", last_seen=minutes(5))
    assert not await store.hosts.note(later)
    (kept,) = await store.hosts.all()
    assert kept == host(uuid="ab-1", serial="S2", client_class="x86_64", last_seen=minutes(5))


@pytest.mark.parametrize("mac", ["", "02:00:00:00:00", "02:00:00:00:00:zz", "'; DROP TABLE nodes; --"])
async def test_a_host_without_a_mac_cannot_be_told_from_others(store: Store, mac: str) -> None:
    assert not await store.hosts.note(host(mac=mac))
    assert await store.hosts.take_leases([lease(mac)]) == []
    assert await store.hosts.all() == []


async def test_what_hosts_say_is_cleaned_first(store: Store) -> None:
    """PostgreSQL keeps no NUL in text, and terminals obey escape sequences."""
    await store.hosts.note(host(uuid="A\0B", serial="\x1b[31mred\n", client_class="x" * 5000))
    (kept,) = await store.hosts.all()
    assert (kept.uuid, kept.serial, len(kept.client_class)) == ("ab", "[31mred", 200)


async def test_the_newest_lease_says_whose_an_address_is(store: Store) -> None:
    assert await store.hosts.by_address("10.0.0.50") is None
    assert await store.hosts.take_leases([lease(), lease(OTHER, at=90)]) == [lease(), lease(OTHER, at=90)]
    assert await store.hosts.by_address("10.0.0.50") == OTHER
    assert await store.hosts.take_leases([lease(OTHER, at=120)]) == []  # the same one, renewed
    assert await store.hosts.leased(minutes(150)) == {"10.0.0.50"}
    assert await store.hosts.leased(minutes(181)) == set()
    await store.hosts.release(OTHER.upper(), "10.0.0.50")
    assert await store.hosts.by_address("10.0.0.50") == MAC


async def test_who_asks_what_to_boot_cannot_claim_an_address(store: Store) -> None:
    """Anybody can write any MAC into a URL; a lease is what our own server gave."""
    await store.hosts.note(host(address="10.0.0.66"))
    assert await store.hosts.by_address("10.0.0.66") is None
    await store.hosts.take_leases([lease()])
    await store.hosts.note(host(address="10.0.0.66"))
    assert [one.address for one in await store.hosts.all()] == ["10.0.0.50"]
    assert await store.hosts.by_address("10.0.0.66") is None


async def test_an_old_event_changes_nothing(store: Store) -> None:
    """After a restart the daemon reads events again that it has read before."""
    await store.hosts.take_leases([lease(at=30)])
    assert await store.hosts.take_leases([lease(address="10.0.0.51", at=10)]) == []
    assert await store.hosts.by_address("10.0.0.50") == MAC


def inventory(*macs: str) -> Inventory:
    """With these cards."""
    identity = Identity("S9", "UU-9", "Example", "One")
    return Inventory(identity, Power.ON, "x86_64", (), 1.0, macs, (), BootAbilities((), http_boot_uri=True), 1)


async def test_cards_and_bmcs_of_nodes_are_no_strangers(store: Store) -> None:
    """By MAC, UUID, serial, or the address of its BMC; a BMC that was found is told as a BMC."""
    node = await add_nodes(store)
    await store.nodes.identify(node.name, Identity("S9", "UU-9", "Example", "One"))
    await store.documents.put_inventory(node.name, inventory(MAC.upper()), minutes(0))
    macs = [f"02:00:00:00:01:{number:02x}" for number in range(5)]
    await store.hosts.note(host(uuid="", serial=""))
    await store.hosts.note(host(mac=macs[0], uuid="uu-9", serial=""))
    await store.hosts.note(host(mac=macs[1], uuid="", serial="S9"))
    await store.hosts.take_leases([lease(macs[2], node.bmc.host), lease(macs[3], "10.0.0.77"), lease(macs[4])])
    seen = Sighting(BmcAddress("10.0.0.77"), Identity("", "", "", ""), How.DHCP)
    await store.found_bmcs.record(Scan(minutes(0), minutes(1), minutes(2), (), 443), [seen])
    assert [one.mac for one in await store.hosts.strangers()] == [macs[4]]


async def test_no_storm_of_made_up_macs_fills_the_disk(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(found_hosts, "MOST", 100)
    many = [lease(f"02:00:00:00:{number // 256:02x}:{number % 256:02x}", at=number) for number in range(300)]
    await store.hosts.take_leases(many)
    kept = await store.hosts.all()
    assert len(kept) <= 100
    assert kept[-1].mac == many[-1].mac
    assert await store.hosts.forget(minutes(299)) == len(kept) - 1
