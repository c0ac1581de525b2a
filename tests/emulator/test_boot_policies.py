"""Boot order, overrides and what BMCs make of them; over HTTPS."""

from collections.abc import Iterator
from typing import Any

import pytest

from emulator.faults.boot import FAULTS
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for

SYSTEM = "/redfish/v1/Systems/1"
NAME = "r01-u01"
ONCE = {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}
OFF = {"BootSourceOverrideTarget": "None", "BootSourceOverrideEnabled": "Disabled", "BootSourceOverrideMode": "UEFI"}


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """One Supermicro."""
    with EmulatedFleet() as running:
        yield running


@pytest.fixture
def client(fleet: EmulatedFleet) -> Iterator[BmcClient]:
    """Its client; afterwards it has no fault, no override, and is off."""
    fresh = BmcClient(fleet.bmcs[0])
    yield fresh
    for name in (*(fault.name for fault in FAULTS), "etag-required", "etag-form"):
        fleet.clear_fault(NAME, name)
    fresh.reset("ForceOff")
    wait_for(lambda: fleet.truth(NAME)["power"] == "Off")
    assert override(fresh, **OFF).status_code == 204


def override(client: BmcClient, path: str = SYSTEM, **boot: Any) -> Any:
    return client.send("PATCH", path, json={"Boot": boot})


def boot_of(client: BmcClient) -> dict[str, Any]:
    boot: dict[str, Any] = client.get(SYSTEM)["Boot"]
    return boot


def post(fleet: EmulatedFleet, client: BmcClient) -> str:
    """Through POST; what failed to boot last."""
    client.reset("On")
    wait_for(lambda: fleet.truth(NAME)["phase"] == "no-bootable-device")
    return str(fleet.truth(NAME)["boot_error"])


def message(answer: Any) -> str:
    return str(answer.json()["error"]["@Message.ExtendedInfo"][0]["MessageId"]).rpartition(".")[2]


def test_boot_order_is_written_whole(client: BmcClient) -> None:
    """stmcginnis/gofish#176: a part of the list is refused."""
    boot = boot_of(client)
    options = [member["@odata.id"] for member in client.get(boot["BootOptions"]["@odata.id"])["Members"]]
    references = {client.get(path)["BootOptionReference"]: client.get(path)["Alias"] for path in options}
    assert [references[one] for one in boot["BootOrder"]] == ["Hdd", "Pxe"]
    for wrong, expected in (
        (boot["BootOrder"][:1], "PropertyValueIncorrect"),
        ([*boot["BootOrder"], boot["BootOrder"][0]], "PropertyValueIncorrect"),
        ([*boot["BootOrder"], "Boot9999"], "PropertyValueNotInList"),
        ("Boot0001", "PropertyValueTypeError"),
    ):
        answer = override(client, BootOrder=wrong)
        assert (answer.status_code, message(answer)) == (400, expected)
    swapped = boot["BootOrder"][::-1]
    assert override(client, BootOrder=swapped).status_code == 204
    assert boot_of(client)["BootOrder"] == swapped
    assert override(client, BootOrder=boot["BootOrder"]).status_code == 204


def test_boot_next_and_uefi_target_are_for_one_boot(fleet: EmulatedFleet, client: BmcClient) -> None:
    """UEFI 2.10, 3.1.2: BootNext is used up; DSP0268: UefiTarget boots a device path."""
    http = next(
        document
        for document in (client.get(member["@odata.id"]) for member in client.get(f"{SYSTEM}/BootOptions")["Members"])
        if document["Alias"] == "UefiHttp"
    )
    assert message(override(client, BootNext="Boot9999")) == "PropertyValueNotInList"
    assert override(client, BootNext=http["BootOptionReference"]).status_code == 204
    assert boot_of(client)["BootNext"] == http["BootOptionReference"]
    post(fleet, client)
    assert boot_of(client)["BootNext"] is None


def test_continuous_boot_from_a_uefi_target_is_refused() -> None:
    """dell/terraform-provider-redfish#138: UefiTarget is a one-time boot setting."""
    with EmulatedFleet([Bmc("dell-xe9680")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        path = "/redfish/v1/Systems/System.Embedded.1"
        target = client.get(f"{path}/BootOptions/Boot0002")["UefiDevicePath"]
        boot = {"BootSourceOverrideTarget": "UefiTarget", "UefiTargetBootSourceOverride": target}
        answer = override(client, path, BootSourceOverrideEnabled="Continuous", **boot)
        assert (answer.status_code, message(answer)) == (400, "PropertyValueConflict")
        assert override(client, path, BootSourceOverrideEnabled="Once", **boot).status_code == 204
        client.reset("On")
        wait_for(lambda: fleet.truth(NAME)["phase"] == "no-bootable-device")
        assert str(fleet.truth(NAME)["boot_error"]).startswith("Pxe")


def test_gb200_takes_overrides_at_its_future_state() -> None:
    """NVIDIA/libredfish mockups: @Redfish.Settings of the system names Settings."""
    with EmulatedFleet([Bmc("gb200-compute-tray")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        client.send("PATCH", "/redfish/v1/AccountService/Accounts/root", json={"Password": "Changed-once-1"})
        client.http.auth = ("root", "Changed-once-1")
        system = "/redfish/v1/Systems/System_0"
        place = client.get(system)["@Redfish.Settings"]["SettingsObject"]["@odata.id"]
        assert override(client, place, **ONCE).status_code == 204
        assert client.get(place)["Boot"]["BootSourceOverrideTarget"] == "Pxe"
        assert client.get(system)["Boot"]["BootSourceOverrideTarget"] == "Pxe"
        assert client.send("PATCH", place, json={"AssetTag": "x"}).status_code == 400


@pytest.mark.parametrize("status", [428, 412, 400])
def test_write_without_if_match_is_refused(status: int, fleet: EmulatedFleet, client: BmcClient) -> None:
    """ansible/ansible#60031, stmcginnis/gofish#171: GET, then send the ETag."""
    fleet.set_fault(NAME, "etag-required", {"status": status})
    assert override(client, **ONCE).status_code == status
    etag = client.send("GET", SYSTEM).headers["ETag"]
    good = client.send("PATCH", SYSTEM, json={"Boot": ONCE}, headers={"If-Match": etag})
    assert good.status_code == 204
    old = client.send("PATCH", SYSTEM, json={"Boot": ONCE}, headers={"If-Match": etag})
    assert old.status_code == 412


@pytest.mark.parametrize(
    ("how", "shown", "wanted"),
    [
        ("weak", 'W/"{}"', '"{}"'),
        ("unquoted", "{}", "{}"),
        ("doubled", '""{}""', '"{}"'),
        ("gzip", '"{}-gzip"', '"{}"'),
        ("empty", '""', None),
        ("refused", '"{}"', None),
    ],
)
def test_etag_header_and_if_match_differ(
    how: str, shown: str, wanted: str | None, fleet: EmulatedFleet, client: BmcClient
) -> None:
    """ansible-collections/community.general#3268, #6434, #11261; openstack/sushy do-not-offer-compression-encoding."""
    plain = client.send("GET", SYSTEM).headers["ETag"].strip('"')
    fleet.set_fault(NAME, "etag-form", {"how": how})
    seen = client.send("GET", SYSTEM, headers={"Accept-Encoding": "gzip"}).headers["ETag"]
    assert seen == shown.format(plain)
    if wanted is None or shown != wanted:
        answer = client.send("PATCH", SYSTEM, json={"Boot": ONCE}, headers={"If-Match": seen})
        assert answer.status_code == 412
    if wanted:
        match = {"If-Match": wanted.format(plain)}
        assert client.send("PATCH", SYSTEM, json={"Boot": ONCE}, headers=match).status_code == 204
    fleet.clear_fault(NAME, "etag-form")


def test_a_service_without_etags_takes_any_if_match(fleet: EmulatedFleet, client: BmcClient) -> None:
    """DMTF/Redfish-Tacklebox#23: there are services that know none."""
    fleet.set_fault(NAME, "etag-form", {"how": "absent"})
    answer = client.send("GET", SYSTEM)
    assert "ETag" not in answer.headers
    assert "@odata.etag" not in answer.json()
    for headers in ({}, {"If-Match": '"anything"'}):
        assert client.send("PATCH", SYSTEM, json={"Boot": ONCE}, headers=headers).status_code == 204


def test_mode_is_refused_misspelt_or_reverts(fleet: EmulatedFleet, client: BmcClient) -> None:
    """ansible-collections/community.general#3509, sushy fix-malformed-boot-mode, DMTF/Redfishtool#106."""
    fleet.set_fault(NAME, "boot-mode-refused")
    assert message(override(client, **ONCE, BootSourceOverrideMode="UEFI")) == "PropertyNotWritable"
    assert override(client, **ONCE).status_code == 204
    fleet.clear_fault(NAME, "boot-mode-refused")
    fleet.set_fault(NAME, "boot-mode-misspelt")
    assert boot_of(client)["BootSourceOverrideMode"] == "Uefi"
    fleet.clear_fault(NAME, "boot-mode-misspelt")
    fleet.set_fault(NAME, "boot-mode-reverts")
    assert override(client, **ONCE, BootSourceOverrideMode="UEFI").status_code == 204
    assert boot_of(client)["BootSourceOverrideMode"] == "UEFI"
    assert override(client, **ONCE).status_code == 204
    assert boot_of(client)["BootSourceOverrideMode"] == "Legacy"


def test_disabling_an_override_needs_more(fleet: EmulatedFleet, client: BmcClient) -> None:
    """ansible-collections/community.general#11543: the mode; ironcore-dev/metal-operator#998: a target."""
    override(client, **ONCE)
    fleet.set_fault(NAME, "boot-disable-needs-mode")
    assert message(override(client, BootSourceOverrideEnabled="Disabled")) == "PropertyMissing"
    assert override(client, BootSourceOverrideEnabled="Disabled", BootSourceOverrideMode="UEFI").status_code == 204
    fleet.set_fault(NAME, "boot-disable-needs-target")
    assert message(override(client, **OFF)) == "PropertyValueNotInList"
    assert override(client, **{**OFF, "BootSourceOverrideTarget": "Pxe"}).status_code == 204


def test_override_lives_at_the_future_state(fleet: EmulatedFleet, client: BmcClient) -> None:
    """DMTF/Redfish-Tacklebox#144: the refusal names the resource that takes it."""
    assert client.send("GET", f"{SYSTEM}/SD").status_code == 404
    fleet.set_fault(NAME, "boot-at-settings")
    refused = override(client, **ONCE)
    assert (refused.status_code, f"{SYSTEM}/SD" in refused.text) == (400, True)
    assert client.get(SYSTEM)["@Redfish.Settings"]["SettingsObject"]["@odata.id"] == f"{SYSTEM}/SD"
    assert override(client, f"{SYSTEM}/SD", **ONCE).status_code == 204
    assert client.get(f"{SYSTEM}/SD")["Boot"]["BootSourceOverrideTarget"] == "Pxe"


def test_override_is_absent_and_cd_has_another_name(fleet: EmulatedFleet, client: BmcClient) -> None:
    """dsx-ai-factory/infra-controller#5178; sushy change-bootdev-smc."""
    fleet.set_fault(NAME, "boot-cd-is-usbcd")
    allowed = boot_of(client)["BootSourceOverrideTarget@Redfish.AllowableValues"]
    assert ("UsbCd" in allowed, "Cd" in allowed) == (True, False)
    assert message(override(client, BootSourceOverrideTarget="Cd")) == "PropertyValueNotInList"
    fleet.set_fault(NAME, "boot-override-absent")
    assert not [name for name in boot_of(client) if name.startswith("BootSourceOverride")]
    assert message(override(client, **ONCE)) == "PropertyUnknown"


def test_unchanged_property_is_refused(fleet: EmulatedFleet, client: BmcClient) -> None:
    """openstack/sushy, release note decouple-boot-params: a minimal PATCH."""
    fleet.set_fault(NAME, "boot-refuses-unchanged")
    answer = override(client, **ONCE, BootSourceOverrideMode="UEFI")
    assert (answer.status_code, message(answer)) == (400, "PropertyNotWritable")
    assert override(client, **ONCE).status_code == 204


def test_continuous_is_forgotten_once_is_kept_or_lost(fleet: EmulatedFleet, client: BmcClient) -> None:
    """dell/terraform-provider-redfish#138, kubevirtbmc/kubevirtbmc#165, ironcore-dev/metal-operator#80."""
    for fault, boot, error, enabled in (
        ("boot-continuous-forgotten", {**ONCE, "BootSourceOverrideEnabled": "Continuous"}, "Pxe", "Disabled"),
        ("boot-once-kept", {**ONCE, "BootSourceOverrideTarget": "UefiHttp"}, "UefiHttp", "Once"),
        ("boot-once-lost", {**ONCE, "BootSourceOverrideTarget": "UefiHttp"}, "Pxe", "Disabled"),
    ):
        fleet.set_fault(NAME, fault)
        assert override(client, **boot).status_code == 204
        assert post(fleet, client).startswith(error)
        assert boot_of(client)["BootSourceOverrideEnabled"] == enabled
        fleet.clear_fault(NAME, fault)
        client.reset("ForceOff")
        wait_for(lambda: fleet.truth(NAME)["power"] == "Off")


@pytest.mark.parametrize("uri", ["junk", "ftp://host/x", "http://", "http:///x", 5])
def test_an_address_that_cannot_be_is_refused(client: BmcClient, uri: object) -> None:
    """DSP0268: HttpBootUri is a URI."""
    answer = override(client, HttpBootUri=uri)
    assert answer.status_code == 400
    assert message(answer) in ("PropertyValueFormatError", "PropertyValueTypeError")
