"""Lenovo's BootSettings: the boot order by kind of device."""

from collections.abc import Iterator
from typing import Any

import pytest

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for

NAME = "r01-u01"
SYSTEM = "/redfish/v1/Systems/1"
SETTINGS = f"{SYSTEM}/Oem/Lenovo/BootSettings"
WHOLE, NETWORK = f"{SETTINGS}/BootOrder.BootOrder", f"{SETTINGS}/BootOrder.NetworkBootOrder"


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """One Lenovo, whose factory password is changed, as it must be."""
    with EmulatedFleet([Bmc("lenovo-sr670v2"), Bmc()]) as running:
        client = BmcClient(running.bmcs[0])
        account = "/redfish/v1/AccountService/Accounts/1"
        client.send("PATCH", account, json={"Password": "Changed-once-1"}).raise_for_status()
        yield running


@pytest.fixture
def client(fleet: EmulatedFleet) -> Iterator[BmcClient]:
    fresh = BmcClient(fleet.bmcs[0])
    fresh.http.auth = (fresh.bmc.username, "Changed-once-1")
    yield fresh
    fleet.clear_fault(NAME, "boot-settings-absent")
    assert put(fresh, WHOLE, ["Network", "Hard Disk"]).status_code == 204


def put(client: BmcClient, path: str, order: Any) -> Any:
    return client.send("PATCH", path, json={"BootOrderNext": order})


def test_both_orders_are_the_same_order(client: BmcClient) -> None:
    """As the recorded XCC shows it; libredfish writes here when BootOrder lacks the network."""
    assert len(client.get(SETTINGS)["Members"]) == 5
    assert client.get(WHOLE)["BootOrderNext"] == ["Network", "Hard Disk"]
    assert client.get(WHOLE)["BootOrderSupported"] == ["Network", "Hard Disk", "CD/DVD Rom", "USB Storage"]
    assert client.get(NETWORK)["BootOrderSupported"][0].startswith("UEFI PXE IPv4 (")
    assert put(client, WHOLE, ["Hard Disk", "USB Storage", "Network"]).status_code == 204
    assert client.get(SYSTEM)["Boot"]["BootOrder"] == ["Boot0002", "Boot0005", "Boot0003"]
    assert client.get(WHOLE)["BootOrderNext"] == ["Hard Disk", "USB Storage", "Network"]


def test_what_is_not_in_the_order_is_not_tried(fleet: EmulatedFleet, client: BmcClient) -> None:
    """dsx-ai-factory/infra-controller#4830: hosts without Hard Disk in their order."""
    for order, network_failed in ((["Hard Disk"], False), (["Hard Disk", "Network"], True)):
        assert put(client, WHOLE, order).status_code == 204
        client.reset("On")
        wait_for(lambda: fleet.truth(NAME)["phase"] == "no-bootable-device")
        assert bool(fleet.truth(NAME)["boot_error"]) == network_failed
        client.reset("ForceOff")
        wait_for(lambda: fleet.truth(NAME)["power"] == "Off")


def test_devices_of_one_kind_are_taken_out_and_put_back(client: BmcClient) -> None:
    """The order within a kind, where that kind stands in the whole."""
    devices = client.get(NETWORK)["BootOrderSupported"]
    assert put(client, NETWORK, []).status_code == 204
    assert client.get(WHOLE)["BootOrderNext"] == ["Hard Disk"]
    assert put(client, NETWORK, devices).status_code == 204
    assert client.get(WHOLE)["BootOrderNext"] == ["Hard Disk", "Network"]


@pytest.mark.parametrize("order", [None, "Network", ["Nowhere"], ["Network", "Network"], [1], [[]]])
def test_orders_that_cannot_be_are_refused(client: BmcClient, order: Any) -> None:
    """400, and nothing has changed."""
    assert put(client, WHOLE, order).status_code == 400
    assert client.get(WHOLE)["BootOrderNext"] == ["Network", "Hard Disk"]


def test_newer_firmware_has_no_boot_settings_and_no_attributes_instead(fleet: EmulatedFleet, client: BmcClient) -> None:
    """dsx-ai-factory/infra-controller#5178: whoever then tries attributes finds none, for ever."""
    fleet.set_fault(NAME, "boot-settings-absent")
    assert client.send("GET", NETWORK).status_code == 404
    assert put(client, WHOLE, ["Hard Disk"]).status_code == 404
    assert not [name for name in client.get(f"{SYSTEM}/Bios")["Attributes"] if name.startswith("BootOrder_")]


def test_others_have_no_such_settings(fleet: EmulatedFleet) -> None:
    """And no order of that name."""
    other = BmcClient(fleet.bmcs[1])
    assert other.send("GET", SETTINGS).status_code == 404
    assert put(other, WHOLE, ["Network"]).status_code == 404
