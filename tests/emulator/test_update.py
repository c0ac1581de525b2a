"""Firmware of an emulated BMC, over HTTPS."""

import pytest

from emulator.package import Header, build_package
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer

INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory"
SIMPLE_UPDATE = "/redfish/v1/UpdateService/Actions/UpdateService.SimpleUpdate"


def package(component: str, version: str, hardware: str = "hgx-h100") -> bytes:
    return build_package(Header(component, hardware, version), 4096)


def update(client: BmcClient, server: BootServer, content: bytes, targets: list[str]) -> str:
    server.files["/package.fw"] = content
    body = {"ImageURI": f"{server.url}/package.fw", "TransferProtocol": "HTTP", "Targets": targets}
    answer = client.send("POST", SIMPLE_UPDATE, json=body)
    assert answer.status_code == 202, answer.text
    return answer.headers["Location"]


def task_state(client: BmcClient) -> str:
    members = client.get("/redfish/v1/TaskService/Tasks")["Members"]
    return str(client.get(members[-1]["@odata.id"])["TaskState"])


def test_bios_becomes_active_with_the_next_reset_of_the_host() -> None:
    """A staged version is not the running one before the reset that the component declares."""
    with EmulatedFleet() as fleet, BootServer() as server:
        client = BmcClient(fleet.bmcs[0])
        update(client, server, package("bios", "BIOS Date: 02/14/2025 Ver 2.5"), [f"{INVENTORY}/BIOS"])
        wait_for(lambda: task_state(client) == "Completed")
        assert client.versions()["BIOS"].endswith("Ver 1.4")
        client.reset("On")
        wait_for(lambda: client.get("/redfish/v1/Systems/1")["BiosVersion"] == "2.5")
        assert fleet.truth("r01-u01")["flashes"] == {"BIOS": {"BIOS Date: 02/14/2025 Ver 2.5": 1}}


def test_warm_reset_does_not_activate_what_needs_a_power_cycle() -> None:
    """Hazard: a warm reset leaves the old version on HGX parts."""
    with EmulatedFleet() as fleet, BootServer() as server:
        client = BmcClient(fleet.bmcs[0])
        client.reset("On")
        wait_for(lambda: client.get("/redfish/v1/Systems/1")["PowerState"] == "On")
        targets = [f"{INVENTORY}/HGX_FW_GPU_SXM_{number}" for number in range(1, 9)]
        update(client, server, package("gpu-vbios", "96.00.BC.00.01"), targets)
        wait_for(lambda: task_state(client) == "Completed")
        client.reset("ForceRestart")
        wait_for(lambda: fleet.truth("r01-u01")["phase"] == "no-bootable-device")
        assert client.versions()["HGX_FW_GPU_SXM_8"] == "96.00.61.00.01"
        client.reset("PowerCycle")
        wait_for(lambda: client.versions()["HGX_FW_GPU_SXM_8"] == "96.00.BC.00.01")


def test_new_bmc_firmware_restarts_the_bmc_and_loses_its_sessions_and_tasks() -> None:
    """openbmc/bmcweb#158: tokens are lost at the reset of the BMC."""
    with EmulatedFleet() as fleet, BootServer() as server:
        client = BmcClient(fleet.bmcs[0])
        login = {"UserName": fleet.bmcs[0].username, "Password": fleet.bmcs[0].password}
        client.send("POST", "/redfish/v1/SessionService/Sessions", json=login)
        update(client, server, package("bmc", "11.03.18"), [f"{INVENTORY}/BMC"])
        wait_for(lambda: fleet.truth("r01-u01")["firmware"]["BMC"]["active"] == "11.03.18")
        assert fleet.truth("r01-u01")["sessions"] == 0
        fresh = BmcClient(fleet.bmcs[0])
        assert fresh.versions()["BMC"] == "11.03.18"
        assert fresh.get("/redfish/v1/TaskService/Tasks")["Members"] == []


@pytest.mark.parametrize(
    ("content", "target"),
    [
        (package("bios", "1"), "BMC"),
        (package("bmc", "1", hardware="dell-xe9680"), "BMC"),
        (b"no package", "BMC"),
    ],
    ids=["other-component", "other-hardware", "no-package"],
)
def test_package_for_something_else_ends_in_exception(content: bytes, target: str) -> None:
    """metal3-io/baremetal-operator#3001: the task says it, not the request."""
    with EmulatedFleet() as fleet, BootServer() as server:
        client = BmcClient(fleet.bmcs[0])
        update(client, server, content, [f"{INVENTORY}/{target}"])
        wait_for(lambda: task_state(client) == "Exception")
        assert fleet.truth("r01-u01")["flashes"] == {}


def test_multipart_without_targets_flashes_every_device_of_the_class() -> None:
    """DSP0266, multipart HTTP push updates."""
    with EmulatedFleet([Bmc()]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        files = {
            "UpdateParameters": (None, '{"Targets": []}', "application/json"),
            "UpdateFile": ("p.fw", package("nvswitch", "96.10.6D.00.01"), "application/octet-stream"),
        }
        answer = client.send("POST", "/redfish/v1/UpdateService/upload", files=files)
        assert answer.status_code == 202, answer.text
        wait_for(lambda: task_state(client) == "Completed")
        staged = {
            name: entry["staged"] for name, entry in fleet.truth("r01-u01")["firmware"].items() if entry["staged"]
        }
        assert staged == {f"HGX_FW_NVSwitch_{number}": "96.10.6D.00.01" for number in range(4)}
