"""VirtualMedia: inserting and ejecting by action and by PATCH, where it is, and what goes wrong with it."""

from typing import Any

import pytest
import redfish
import redfish_utilities
import sushy

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient
from tests.emulator.one_bmc import OneBmc

DRIVE = "/redfish/v1/Managers/1/VirtualMedia/Cd"
INSERT = f"{DRIVE}/Actions/VirtualMedia.InsertMedia"
EJECT = f"{DRIVE}/Actions/VirtualMedia.EjectMedia"
IMAGE = "http://127.0.0.1:9/images/boot.iso"


def code(answer: Any) -> str:
    found: str = answer.json()["error"]["code"]
    return found.rpartition(".")[2]


def test_image_is_inserted_and_ejected(one: OneBmc, client: BmcClient) -> None:
    """DSP0268, VirtualMedia."""
    body = {
        "Image": IMAGE,
        "Inserted": True,
        "WriteProtected": True,
        "TransferMethod": "Stream",
        "UserName": "u",
        "Password": "p",
    }
    assert client.send("POST", INSERT, json=body).status_code == 204
    shown = client.get(DRIVE)
    assert (shown["Image"], shown["ImageName"], shown["Inserted"]) == (IMAGE, "boot.iso", True)
    assert (shown["ConnectedVia"], shown["TransferProtocolType"]) == ("URI", "HTTP")
    assert (shown["UserName"], shown["Password"]) == (None, None)
    assert one.truth()["media"] == {"Cd": IMAGE}
    assert client.send("POST", EJECT, json={}).status_code == 204
    assert client.get(DRIVE)["Image"] is None
    assert client.send("POST", EJECT).status_code == 204


def test_image_is_inserted_by_patch(one: OneBmc, client: BmcClient) -> None:
    """DSP0268, VirtualMedia: Image and Inserted are writable, for services without the actions."""
    assert client.send("PATCH", DRIVE, json={"Image": IMAGE, "Inserted": True}).status_code == 204
    assert one.truth()["media"] == {"Cd": IMAGE}
    assert client.send("PATCH", DRIVE, json={"Image": None}).status_code == 204
    assert one.truth()["media"] == {}
    assert code(client.send("PATCH", DRIVE, json={"MediaTypes": ["CD"]})) == "PropertyNotWritable"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, "ActionParameterMissing"),
        ({"Image": 1}, "PropertyValueTypeError"),
        ({"Image": "nfs://host/boot.iso"}, "ActionParameterValueFormatError"),
        ({"Image": IMAGE, "Inserted": "yes"}, "PropertyValueTypeError"),
        ({"Image": IMAGE, "TransferMethod": "Carrier"}, "PropertyValueNotInList"),
        ({"Image": IMAGE, "Colour": 1}, "PropertyUnknown"),
    ],
)
def test_bad_insertion_is_refused(client: BmcClient, body: dict[str, Any], expected: str) -> None:
    """DSP0268, Base registry."""
    answer = client.send("POST", INSERT, json=body)
    assert (answer.status_code, code(answer)) == (400, expected)


def test_full_drive_takes_no_other_image(client: BmcClient) -> None:
    """DSP8011, Base: ResourceInUse."""
    assert client.send("POST", INSERT, json={"Image": IMAGE}).status_code == 204
    assert code(client.send("POST", INSERT, json={"Image": IMAGE})) == "ResourceInUse"


def test_drives_are_at_the_system_or_at_the_manager() -> None:
    """dell/iDRAC-Redfish-Scripting#265: since 6.00 iDRAC has them at the system, by index."""
    with EmulatedFleet([Bmc("dell-xe9680")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        system = client.get("/redfish/v1/Systems/System.Embedded.1")
        collection = client.get(system["VirtualMedia"]["@odata.id"])
        assert [member["@odata.id"].rpartition("/")[2] for member in collection["Members"]] == ["1", "2"]
        assert "VirtualMedia" not in client.get("/redfish/v1/Managers/iDRAC.Embedded.1")
        assert client.send("GET", "/redfish/v1/Managers/iDRAC.Embedded.1/VirtualMedia").status_code == 404


def test_insertion_is_picky(one: OneBmc, client: BmcClient) -> None:
    """openstack/sushy: fix-insert-media-payload, retry-if-transferprototype-missing; iDRAC-Redfish-Scripting#265."""
    one.set_fault("insert-refuses-optional")
    assert code(client.send("POST", INSERT, json={"Image": IMAGE, "WriteProtected": True})) == "PropertyUnknown"
    one.set_fault("insert-needs-protocol")
    refused = client.send("POST", INSERT, json={"Image": IMAGE})
    assert refused.json()["error"]["@Message.ExtendedInfo"][0]["MessageArgs"][1] == "TransferProtocolType"
    one.set_fault("media-unreachable", times=1)
    body = {"Image": IMAGE, "TransferProtocolType": "HTTP"}
    assert code(client.send("POST", INSERT, json=body)) == "CouldNotEstablishConnection"
    assert client.send("POST", INSERT, json=body).status_code == 204


def test_ejection_is_picky(one: OneBmc, client: BmcClient) -> None:
    """openstack/sushy: fix-eject-media-empty-dict, bug-2114737."""
    one.set_fault("eject-needs-body")
    one.set_fault("eject-fails-when-empty")
    assert client.send("POST", EJECT).status_code == 415
    assert client.send("POST", EJECT, json={}).status_code == 400
    assert client.send("POST", INSERT, json={"Image": IMAGE}).status_code == 204
    assert client.send("POST", EJECT, json={}).status_code == 204


@pytest.mark.parametrize("faults", [(), ("insert-refuses-optional", "insert-needs-protocol", "eject-needs-body")])
def test_sushy_inserts_and_ejects(one: OneBmc, client: BmcClient, faults: tuple[str, ...]) -> None:
    """openstack/sushy, resources/manager/virtual_media.py, with its work-arounds."""
    for fault in faults:
        one.set_fault(fault)
    bmc = client.bmc
    root = sushy.Sushy(f"{bmc.url}/redfish/v1", bmc.username, bmc.password, verify=False)
    (drive,) = root.get_manager("/redfish/v1/Managers/1").virtual_media.get_members()
    drive.insert_media(IMAGE)
    assert one.truth()["media"] == {"Cd": IMAGE}
    drive.eject_media()
    assert one.truth()["media"] == {}


def test_redfish_utilities_insert_and_eject(one: OneBmc, client: BmcClient) -> None:
    """DMTF/Redfish-Tacklebox, rf_virtual_media."""
    bmc = client.bmc
    context = redfish.redfish_client(bmc.url, bmc.username, bmc.password)
    context.login(auth="basic")
    redfish_utilities.insert_virtual_media(context, IMAGE, system_id="1", inserted=True, write_protected=True)
    (media,) = redfish_utilities.get_virtual_media(context, system_id="1")
    assert media["Image"] == IMAGE
    redfish_utilities.eject_virtual_media(context, "Cd", system_id="1")
    assert one.truth()["media"] == {}
