"""Settings, boot order, secure boot and power verbs of servers that were recorded, not written by us; over HTTPS."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.emulator.bmc_client import wait_for
from tests.emulator.replays import Museum, replaying


@pytest.fixture(scope="module")
def museum() -> Iterator[Museum]:
    """Every recorded machine, to be changed."""
    with replaying() as replays:
        yield replays


def boot(museum: Museum, machine: str) -> None:
    client = museum.clients[machine]
    client.reset("On")
    wait_for(lambda: museum.truth(machine)["phase"] == "no-bootable-device")
    client.reset("ForceOff")
    wait_for(lambda: museum.truth(machine)["power"] == "Off")


def messages(answer: Any) -> list[str]:
    found = answer.json()["error"]["@Message.ExtendedInfo"]
    return [str(one["MessageId"]).rpartition(".")[2] for one in found]


def test_dell_registry_unlocks_the_children_of_a_profile(museum: Museum) -> None:
    """dell-r750-idrac9: ProcCStates is read-only unless SysProfile is Custom."""
    client, path = museum.clients["dell-r750-idrac9"], "/redfish/v1/Systems/System.Embedded.1/Bios"
    child = {"Attributes": {"ProcCStates": "Disabled"}}
    assert messages(client.send("PATCH", f"{path}/Settings", json=child)) == ["PropertyNotWritable"]
    both = {"Attributes": {"SysProfile": "Custom", "ProcCStates": "Disabled"}}
    assert client.send("PATCH", f"{path}/Settings", json=both).status_code == 200
    boot(museum, "dell-r750-idrac9")
    attributes = client.get(path)["Attributes"]
    assert (attributes["SysProfile"], attributes["ProcCStates"]) == ("Custom", "Disabled")


def test_dgx_shows_all_attributes_as_they_will_be(museum: Museum) -> None:
    """nvidia-dgx-h100: Bios/SD holds every attribute, not only what is pending."""
    client, path = museum.clients["nvidia-dgx-h100"], "/redfish/v1/Systems/DGX/Bios"
    wanted = {"Attributes": {"ARIEnable": "Disable"}}
    assert client.send("PATCH", f"{path}/SD", json=wanted).status_code == 200
    future, current = client.get(f"{path}/SD")["Attributes"], client.get(path)["Attributes"]
    assert (future["ARIEnable"], current["ARIEnable"], len(future)) == ("Disable", "Enable", len(current))
    boot(museum, "nvidia-dgx-h100")
    assert client.get(path)["Attributes"]["ARIEnable"] == "Disable"


def test_dgx_takes_overrides_and_the_whole_boot_order_at_its_future_state(museum: Museum) -> None:
    """nvidia-dgx-h100: allowable values are at /SD only; 21 boot options."""
    client, system = museum.clients["nvidia-dgx-h100"], "/redfish/v1/Systems/DGX"
    once = {"Boot": {"BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideEnabled": "Once"}}
    assert client.send("PATCH", f"{system}/SD", json=once).status_code == 204
    assert client.get(f"{system}/SD")["Boot"]["BootSourceOverrideTarget"] == "UefiHttp"
    order = client.get(f"{system}/SD")["Boot"]["BootOrder"]
    partial = client.send("PATCH", f"{system}/SD", json={"Boot": {"BootOrder": order[:3]}})
    assert messages(partial) == ["PropertyValueIncorrect"]
    assert client.send("PATCH", f"{system}/SD", json={"Boot": {"BootOrder": order[::-1]}}).status_code == 204
    assert client.get(f"{system}/SD")["Boot"]["BootOrder"] == order[::-1]


def test_dgx_keys_are_removed_and_restored(museum: Museum) -> None:
    """nvidia-dgx-h100: the recorded databases hold the recorded certificates until somebody removes one."""
    client, path = museum.clients["nvidia-dgx-h100"], "/redfish/v1/Systems/DGX/SecureBoot"
    keys = f"{path}/SecureBootDatabases/PK/Certificates"
    first = client.get(keys)["Members"][0]["@odata.id"]
    assert client.get(path)["SecureBootMode"] == "UserMode"
    assert client.send("DELETE", first).status_code == 204
    assert client.send("GET", first).status_code == 404
    assert (client.get(keys)["Members"], client.get(path)["SecureBootMode"]) == ([], "SetupMode")
    reset = {"ResetKeysType": "ResetAllKeysToDefault"}
    assert client.send("POST", f"{path}/Actions/SecureBoot.ResetKeys", json=reset).status_code == 204
    assert client.get(path)["SecureBootMode"] == "UserMode"


@pytest.mark.parametrize(
    ("machine", "target", "value"),
    [
        ("lenovo-sr670v2-xcc", "/redfish/v1/Systems/1/Actions/Oem/LenovoComputerSystem.SystemReset", "ACPowerCycle"),
        ("hpe-xl675d-a100-ilo5", "/redfish/v1/Systems/1/Actions/Oem/Hpe/HpeComputerSystemExt.SystemReset/", "AuxCycle"),
    ],
)
def test_recorded_power_verbs_take_the_bmc_down(machine: str, target: str, value: str, museum: Museum) -> None:
    """lenovo-sr670v2-xcc, hpe-xl675d-a100-ilo5: the OEM actions in their documents."""
    client = museum.clients[machine]
    assert client.send("POST", target, json={"ResetType": value}).status_code == 204
    wait_for(lambda: museum.truth(machine)["bmc_resets"] == 1)
