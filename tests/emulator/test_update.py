"""Firmware of an emulated BMC, over HTTPS."""

import pytest

from emulator.package import Header, build_package
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer
from tests.emulator.one_bmc import OneBmc

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


def test_bios_becomes_active_with_the_next_reset_of_the_host(one: OneBmc, client: BmcClient) -> None:
    """A staged version is not the running one before the reset that the component declares."""
    with BootServer() as server:
        update(client, server, package("bios", "BIOS Date: 02/14/2025 Ver 2.5"), [f"{INVENTORY}/BIOS"])
        wait_for(lambda: task_state(client) == "Completed")
        assert client.versions()["BIOS"].endswith("Ver 1.4")
        client.reset("On")
        wait_for(lambda: client.get("/redfish/v1/Systems/1")["BiosVersion"] == "2.5")
        assert one.truth()["flashes"] == {"BIOS": {"BIOS Date: 02/14/2025 Ver 2.5": 1}}


def test_warm_reset_does_not_activate_what_needs_a_power_cycle(one: OneBmc, client: BmcClient) -> None:
    """Hazard: a warm reset leaves the old version on HGX parts."""
    with BootServer() as server:
        client.reset("On")
        wait_for(lambda: client.get("/redfish/v1/Systems/1")["PowerState"] == "On")
        targets = [f"{INVENTORY}/HGX_FW_GPU_SXM_{number}" for number in range(1, 9)]
        update(client, server, package("gpu-vbios", "96.00.BC.00.01"), targets)
        wait_for(lambda: task_state(client) == "Completed")
        client.reset("ForceRestart")
        wait_for(lambda: one.truth()["phase"] == "no-bootable-device")
        assert client.versions()["HGX_FW_GPU_SXM_8"] == "96.00.61.00.01"
        client.reset("PowerCycle")
        wait_for(lambda: client.versions()["HGX_FW_GPU_SXM_8"] == "96.00.BC.00.01")


def test_new_bmc_firmware_restarts_the_bmc_and_loses_its_sessions_and_tasks(one: OneBmc, client: BmcClient) -> None:
    """openbmc/bmcweb#158: tokens are lost at the reset of the BMC."""
    with BootServer() as server:
        login = {"UserName": one.bmc.username, "Password": one.bmc.password}
        client.send("POST", "/redfish/v1/SessionService/Sessions", json=login)
        update(client, server, package("bmc", "11.03.18"), [f"{INVENTORY}/BMC"])
        wait_for(lambda: one.truth()["firmware"]["BMC"]["active"] == "11.03.18")
        assert one.truth()["sessions"] == 0
        fresh = one.client()
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
def test_package_for_something_else_ends_in_exception(
    content: bytes, target: str, one: OneBmc, client: BmcClient
) -> None:
    """metal3-io/baremetal-operator#3001: the task says it, not the request."""
    with BootServer() as server:
        update(client, server, content, [f"{INVENTORY}/{target}"])
        wait_for(lambda: task_state(client) == "Exception")
        assert one.truth()["flashes"] == {}


def test_multipart_without_targets_flashes_every_device_of_the_class(one: OneBmc, client: BmcClient) -> None:
    """DSP0266, multipart HTTP push updates."""
    files = {
        "UpdateParameters": (None, '{"Targets": []}', "application/json"),
        "UpdateFile": ("p.fw", package("nvswitch", "96.10.6D.00.01"), "application/octet-stream"),
    }
    answer = client.send("POST", "/redfish/v1/UpdateService/upload", files=files)
    assert answer.status_code == 202, answer.text
    wait_for(lambda: task_state(client) == "Completed")
    staged = {name: entry["staged"] for name, entry in one.truth()["firmware"].items() if entry["staged"]}
    assert staged == {f"HGX_FW_NVSwitch_{number}": "96.10.6D.00.01" for number in range(4)}


def test_dell_inventory_ids_change_with_the_version_and_jobs_keep_their_numbers_apart() -> None:
    """iDRAC: inventory ids hold the version, so every update renames them."""
    with EmulatedFleet([Bmc("dell-xe9680")]) as fleet, BootServer() as server:
        client = BmcClient(fleet.bmcs[0])
        old = f"{INVENTORY}/Installed-25227-7.10.30.00__iDRAC.Embedded.1-1"
        first = update(client, server, package("bmc", "7.20.10.50", "dell-xe9680"), [old])
        wait_for(lambda: fleet.truth("r01-u01")["bmc_resets"] == 1 and fleet.truth("r01-u01")["bmc_answers"])
        client = BmcClient(fleet.bmcs[0])
        assert client.send("GET", old).status_code == 404
        new = "Installed-25227-7.20.10.50__iDRAC.Embedded.1-1"
        assert client.versions()[new] == "7.20.10.50"
        assert fleet.truth("r01-u01")["flashes"] == {new: {"7.20.10.50": 1}}
        assert update(client, server, package("nic", "28.39.40.82", "dell-xe9680"), []) != first


def test_gb200_takes_pushes_only_and_keeps_its_gpus_in_the_second_system() -> None:
    """NVIDIA's trays advertise no SimpleUpdate."""
    with EmulatedFleet([Bmc("gb200-compute-tray")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        client.send("PATCH", "/redfish/v1/AccountService/Accounts/root", json={"Password": "Changed-once-1"})
        client.http.auth = ("root", "Changed-once-1")
        service = client.get("/redfish/v1/UpdateService")
        assert service["Actions"] == {}
        assert client.send("POST", SIMPLE_UPDATE, json={"ImageURI": "http://127.0.0.1/x"}).status_code == 404
        target = f"{INVENTORY}/HGX_FW_GPU_1"
        client.send("PATCH", "/redfish/v1/UpdateService", json={"HttpPushUriTargets": [target]})
        content = package("gpu-vbios", "97.00.B9.00.69", "gb200-compute-tray")
        answer = client.send("POST", service["HttpPushUri"], data=content)
        assert answer.json()["@odata.type"].startswith("#Task.")
        wait_for(lambda: client.send("GET", answer.headers["Location"]).status_code == 200)
        staged = {
            name: entry["staged"] for name, entry in fleet.truth("r01-u01")["firmware"].items() if entry["staged"]
        }
        assert staged == {"HGX_FW_GPU_1": "97.00.B9.00.69"}
        gpus = client.get("/redfish/v1/Systems/HGX_Baseboard_0/Processors?$expand=.")["Members"]
        assert [gpu["Id"] for gpu in gpus if gpu["ProcessorType"] == "GPU"] == ["GPU_0", "GPU_1", "GPU_2", "GPU_3"]


def test_second_update_has_to_wait_for_the_first() -> None:
    """open-nvfwupd: one update at a time."""
    with EmulatedFleet(speed=600) as fleet, BootServer() as server:
        client = BmcClient(fleet.bmcs[0])
        update(client, server, package("bios", "BIOS Date: 02/14/2025 Ver 2.5"), [f"{INVENTORY}/BIOS"])
        body = {"ImageURI": f"{server.url}/package.fw", "Targets": [f"{INVENTORY}/BIOS"]}
        busy = client.send("POST", SIMPLE_UPDATE, json=body)
        assert (busy.status_code, "UpdateInProgress" in busy.text) == (503, True)
        wait_for(lambda: 0 < client.get("/redfish/v1/TaskService/Tasks/0")["PercentComplete"] < 100)
        wait_for(lambda: task_state(client) == "Completed")
