"""Paths, attributes, links and states that are not what and where they are elsewhere."""

from collections.abc import Iterator
from typing import Any

import pytest

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient
from tests.emulator.boot_server import BootServer

SMC, DELL = "r01-u01", "r01-u02"
SYSTEM, MANAGER = "/redfish/v1/Systems/1", "/redfish/v1/Managers/1"
DELL_BIOS = "/redfish/v1/Systems/System.Embedded.1/Bios"
FAULTS = ("media-moved", "bios-attribute-renamed", "root-links-absent", "state-invalid", "dates-invalid")


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    with EmulatedFleet([Bmc(), Bmc("dell-xe9680")]) as running:
        yield running


@pytest.fixture
def smc(fleet: EmulatedFleet) -> Iterator[BmcClient]:
    """The Supermicro; all is healed afterwards."""
    yield BmcClient(fleet.bmcs[0])
    for fault in FAULTS:
        fleet.clear_fault(SMC, fault)


@pytest.fixture
def dell(fleet: EmulatedFleet) -> Iterator[BmcClient]:
    """The Dell; all is healed afterwards."""
    yield BmcClient(fleet.bmcs[1])
    for fault in FAULTS:
        fleet.clear_fault(DELL, fault)


def drive(client: BmcClient, owner: str) -> dict[str, Any]:
    return client.get(client.get(client.get(owner)["VirtualMedia"]["@odata.id"])["Members"][0]["@odata.id"])


def test_virtual_media_move_from_the_manager_to_the_system(fleet: EmulatedFleet, smc: BmcClient) -> None:
    """quadsproject/badfish#578, dell/terraform-provider-redfish#331: follow the links."""
    usual = drive(smc, MANAGER)["@odata.id"]
    fleet.set_fault(SMC, "media-moved")
    assert "VirtualMedia" not in smc.get(MANAGER)
    assert smc.send("GET", usual).status_code == 404
    moved = drive(smc, SYSTEM)
    assert moved["@odata.id"].startswith(f"{SYSTEM}/VirtualMedia/")
    insert = moved["Actions"]["#VirtualMedia.InsertMedia"]["target"]
    assert insert.startswith(moved["@odata.id"])
    with BootServer() as server:
        server.offer("/a.iso", b"x" * 4096)
        assert smc.send("POST", insert, json={"Image": f"{server.url}/a.iso"}).status_code == 204
    assert drive(smc, SYSTEM)["Inserted"]
    eject = moved["Actions"]["#VirtualMedia.EjectMedia"]["target"]
    assert smc.send("POST", eject, json={}).status_code == 204
    fleet.clear_fault(SMC, "media-moved")
    assert drive(smc, MANAGER)["@odata.id"] == usual


def test_virtual_media_under_the_system_are_found_by_expanding_it(fleet: EmulatedFleet, smc: BmcClient) -> None:
    """Whatever way a client takes there."""
    fleet.set_fault(SMC, "media-moved")
    expanded = smc.get(f"{SYSTEM}/VirtualMedia?$expand=.($levels=1)")
    assert all(member["@odata.id"].startswith(f"{SYSTEM}/VirtualMedia/") for member in expanded["Members"])


def test_an_attribute_has_another_name_on_another_model(fleet: EmulatedFleet, dell: BmcClient) -> None:
    """dell/iDRAC-Redfish-Scripting#319: the registry says which."""
    old, new = "SetBootOrderEn", "SetBootOrderFqdd1"
    fleet.set_fault(DELL, "bios-attribute-renamed")
    assert {old, new} & set(dell.get(DELL_BIOS)["Attributes"]) == {new}
    registry = dell.get(DELL_BIOS)["AttributeRegistry"]
    file = next(one for one in dell.get("/redfish/v1/Registries")["Members"] if registry in one["@odata.id"])
    entries = dell.get(dell.get(file["@odata.id"])["Location"][0]["Uri"])["RegistryEntries"]["Attributes"]
    assert {old, new} & {entry["AttributeName"] for entry in entries} == {new}
    refused = dell.send("PATCH", f"{DELL_BIOS}/Settings", json={"Attributes": {old: "x"}})
    assert refused.status_code == 400
    assert refused.json()["error"]["@Message.ExtendedInfo"][0]["MessageArgs"] == [old]
    taken = dell.send("PATCH", f"{DELL_BIOS}/Settings", json={"Attributes": {new: "x"}})
    assert taken.status_code < 300
    assert dell.get(f"{DELL_BIOS}/Settings")["Attributes"] == {new: "x"}


def test_the_root_does_not_link_to_what_there_is(fleet: EmulatedFleet, smc: BmcClient) -> None:
    """dsx-ai-factory/nv-redfish#234."""
    fleet.set_fault(SMC, "root-links-absent", {"names": ["Systems"]})
    root = smc.get("/redfish/v1")
    assert "Systems" not in root
    assert "Chassis" in root
    assert smc.get("/redfish/v1/Systems")["Members"]


def test_a_state_is_none_of_the_schema(fleet: EmulatedFleet, smc: BmcClient) -> None:
    """NVIDIA/nv-redfish, bmc_quirks.rs: wrong_resource_status_state."""
    fleet.set_fault(SMC, "state-invalid", {"value": "Working"})
    assert smc.get(SYSTEM)["Status"]["State"] == "Working"
    chassis = smc.get("/redfish/v1/Chassis?$expand=.($levels=1)")["Members"]
    assert {one["Status"]["State"] for one in chassis if "Status" in one} == {"Working"}
