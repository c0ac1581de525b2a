"""Power, boot override and BIOS of an emulated BMC, over HTTPS."""

import time

import pytest

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for

SYSTEM = "/redfish/v1/Systems/1"


def message_id(answer: object) -> str:
    return str(answer.json()["error"]["@Message.ExtendedInfo"][0]["MessageId"])  # type: ignore[attr-defined]


def test_power_goes_through_its_phases_in_emulated_time() -> None:
    """POST of 240 s at speed 120 takes two seconds."""
    with EmulatedFleet(speed=120) as fleet:
        client = BmcClient(fleet.bmcs[0])
        began = time.monotonic()
        assert client.reset("On").status_code == 204
        seen: set[str] = set()
        while fleet.truth("r01-u01")["phase"] in ("off", "powering-on", "post"):
            seen.add(client.get(SYSTEM)["BootProgress"]["LastState"])
        assert "MemoryInitializationStarted" in seen
        assert time.monotonic() - began > 0.9
        client.reset("ForceOff")
        wait_for(lambda: client.get(SYSTEM)["PowerState"] == "Off")


def test_restart_of_a_host_that_is_off_turns_it_on(client: BmcClient) -> None:
    """DMTF's Redfish-Use-Case-Checkers; what is graceful or an interrupt needs a system that runs."""
    assert client.reset("GracefulRestart").status_code == 409
    assert client.reset("ForceOff").status_code == 204
    assert client.reset("Sideways").status_code == 400
    assert client.reset("ForceRestart").status_code == 204
    wait_for(lambda: client.get(SYSTEM)["PowerState"] == "On")


def test_reset_that_does_not_fit_the_power_state_may_be_refused() -> None:
    """openstack-k8s-operators/infra-operator#434: iDRAC answers 409 to ForceOff while off."""
    with EmulatedFleet([Bmc(faults=("power-state-conflict",))]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        assert client.reset("ForceOff").status_code == 409
        assert client.reset("ForceRestart").status_code == 409
        assert client.reset("On").status_code == 204
        wait_for(lambda: client.get(SYSTEM)["PowerState"] == "On")
        assert client.reset("On").status_code == 409


def test_boot_override_takes_only_what_the_persona_allows() -> None:
    """dell-xe9680: UefiHttp is allowed, HttpBootUri is not there."""
    with EmulatedFleet([Bmc("dell-xe9680")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        path = "/redfish/v1/Systems/System.Embedded.1"
        assert "HttpBootUri" not in client.get(path)["Boot"]
        wrong = client.send("PATCH", path, json={"Boot": {"HttpBootUri": "http://127.0.0.1/x"}})
        assert (wrong.status_code, message_id(wrong)) == (400, "Base.1.13.PropertyUnknown")
        wrong = client.send("PATCH", path, json={"Boot": {"BootSourceOverrideTarget": "UsbCd"}})
        assert (wrong.status_code, message_id(wrong)) == (400, "Base.1.13.PropertyValueNotInList")
        boot = {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}
        assert client.send("PATCH", path, json={"Boot": boot}).status_code == 204
        assert client.get(path)["Boot"]["BootSourceOverrideTarget"] == "Pxe"


def test_bios_attributes_wait_for_the_next_boot(client: BmcClient) -> None:
    """DSP0266, settings resource."""
    wanted = {"SR_IOVSupport_0047": "Enabled", "PXEBootWaitTime_00F8": 2}
    assert client.send("PATCH", f"{SYSTEM}/Bios/SD", json={"Attributes": wanted}).status_code == 200
    assert client.get(f"{SYSTEM}/Bios/SD")["Attributes"] == wanted
    assert client.get(f"{SYSTEM}/Bios")["Attributes"]["SR_IOVSupport_0047"] == "Disabled"
    client.reset("On")
    wait_for(lambda: client.get(f"{SYSTEM}/Bios")["Attributes"]["SR_IOVSupport_0047"] == "Enabled")
    assert client.get(f"{SYSTEM}/Bios/SD")["Attributes"] == {}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"NoSuchThing": "x"}, "Base.1.13.PropertyUnknown"),
        ({"BIOSVersion_0001": "2"}, "Base.1.13.PropertyNotWritable"),
        ({"SR_IOVSupport_0047": "Perhaps"}, "Base.1.13.PropertyValueNotInList"),
        ({"PXEBootWaitTime_00F8": "2"}, "Base.1.13.PropertyValueTypeError"),
        ({"PXEBootWaitTime_00F8": 99}, "Base.1.13.PropertyValueOutOfRange"),
    ],
)
def test_wrong_attribute_refuses_the_whole_change(attributes: dict[str, object], expected: str, museum: object) -> None:
    """ironcore-dev/metal-operator#1040: an integer as text is refused."""
    client = BmcClient(museum["hgx-h100"])  # type: ignore[index]
    answer = client.send("PATCH", f"{SYSTEM}/Bios/SD", json={"Attributes": {"NUMA_003B": "Disabled", **attributes}})
    assert (answer.status_code, message_id(answer)) == (400, expected)
    assert client.get(f"{SYSTEM}/Bios/SD")["Attributes"] == {}


def test_state_survives_an_end_without_warning() -> None:
    """Power, override, BIOS and credentials are kept with each change."""
    with EmulatedFleet() as fleet:
        client = BmcClient(fleet.bmcs[0])
        client.send("PATCH", f"{SYSTEM}/Bios/SD", json={"Attributes": {"SR_IOVSupport_0047": "Enabled"}})
        boot = {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Continuous"}
        client.send("PATCH", SYSTEM, json={"Boot": boot})
        client.send("PATCH", "/redfish/v1/AccountService/Accounts/2", json={"Password": "Another-one-1"})
        fleet.kill()
        fleet.start()
        client = BmcClient(fleet.bmcs[0])
        client.http.auth = ("ADMIN", "Another-one-1")
        assert client.get(f"{SYSTEM}/Bios/SD")["Attributes"] == {"SR_IOVSupport_0047": "Enabled"}
        assert client.get(SYSTEM)["Boot"]["BootSourceOverrideEnabled"] == "Continuous"


def test_loss_of_mains_takes_host_and_bmc_and_leaves_the_host_off() -> None:
    """Both feeds pulled, then plugged in again."""
    with EmulatedFleet([Bmc(power="On")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        assert client.get(SYSTEM)["PowerState"] == "On"
        fleet.act("r01-u01", "power-loss")
        with pytest.raises(OSError, match=r"(?i)connection|eof"):
            client.send("GET", SYSTEM)
        fleet.act("r01-u01", "power-restore")
        wait_for(lambda: fleet.truth("r01-u01")["bmc_answers"])
        assert BmcClient(fleet.bmcs[0]).get(SYSTEM)["PowerState"] == "Off"
