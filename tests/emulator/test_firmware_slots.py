"""The images that devices hold, and what makes one of them run; over HTTPS."""

from typing import Any

import pytest

from emulator.persona.firmware import ACTIVATED_BY
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.updates import INVENTORY, NEW_BIOS, TASKS, ended, keys, package, push, taken_over, tasks

NAME = "r01-u01"
APPLY = "@Redfish.OperationApplyTime"
DELL_BIOS = f"{INVENTORY}/Installed-159-2.1.5__BIOS.Setup.1-1"


def ids(client: BmcClient) -> list[str]:
    return [member["@odata.id"].rpartition("/")[2] for member in client.get(INVENTORY)["Members"]]


def entry(client: BmcClient, name: str) -> dict[str, Any]:
    return client.get(f"{INVENTORY}/{name}")


def booted(fleet: EmulatedFleet) -> bool:
    return bool(fleet.truth(NAME)["phase"] == "no-bootable-device")


def test_supermicro_shows_staging_backup_and_golden_images(client: BmcClient) -> None:
    """Supermicro SYS-821GE-TNHR: Staging_, Backup_ and Golden_ entries; `Not Present` while there is none."""
    assert entry(client, "Backup_BIOS")["Version"] == entry(client, "Staging_BIOS")["Version"] == "Not Present"
    assert entry(client, "Golden_BIOS")["Version"] == "BIOS Date: 08/04/2023 Ver 1.4"
    push(client, package("bios", NEW_BIOS), {"Targets": [f"{INVENTORY}/BIOS"]})
    assert keys(ended(client))[-2:] == ["AwaitToActivate", "Success"]
    waiting = entry(client, "Staging_BIOS")
    assert (waiting["Version"], waiting["Status"]["State"]) == (NEW_BIOS, "StandbySpare")
    assert entry(client, "BIOS")["Version"].endswith("Ver 1.4")
    client.reset("On")
    wait_for(lambda: entry(client, "BIOS")["Version"] == NEW_BIOS)
    assert entry(client, "Backup_BIOS")["Version"].endswith("Ver 1.4")
    assert entry(client, "Staging_BIOS")["Version"] == "Not Present"


def test_dell_keeps_the_previous_version_as_an_entry_of_its_own() -> None:
    """iDRAC: Installed-, Current-, Previous- and Available-, with the version in each id."""
    with EmulatedFleet([Bmc("dell-xe9680")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        bios = [name for name in ids(client) if "BIOS" in name]
        assert bios == ["Installed-159-2.1.5__BIOS.Setup.1-1", "Current-159-2.1.5__BIOS.Setup.1-1"]
        push(client, package("bios", "2.5.4", "dell-xe9680"), {"Targets": [DELL_BIOS]})
        ended(client)
        assert "Available-159-2.5.4__BIOS.Setup.1-1" in ids(client)
        client.reset("On")
        wait_for(lambda: "Installed-159-2.5.4__BIOS.Setup.1-1" in ids(client))
        assert sorted(name.partition("__")[0] for name in ids(client) if "BIOS" in name) == [
            "Current-159-2.5.4",
            "Installed-159-2.5.4",
            "Previous-159-2.1.5",
        ]


def test_dell_runs_a_bios_job_in_the_post_of_the_next_reset() -> None:
    """iDRAC: with OnReset the job is Scheduled, the host writes it in POST and starts with it; jobs outlive resets."""
    with EmulatedFleet([Bmc("dell-xe9680")], speed=1200) as fleet:
        client = BmcClient(fleet.bmcs[0])
        body = {"Targets": [DELL_BIOS], APPLY: "OnReset"}
        push(client, package("bios", "2.5.4", "dell-xe9680"), body)
        task = ended(client, "Pending")
        assert keys(task)[-1] == "AwaitToUpdate"
        job = f"/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/Jobs/{task['Id']}"
        assert client.get(job)["JobState"] == "Scheduled"
        assert client.get(f"/redfish/v1/JobService/Jobs/{task['Id']}")["JobState"] == "Pending"
        assert fleet.truth(NAME)["flashes"] == {}
        fleet.stop()
        fleet.start()
        client = BmcClient(fleet.bmcs[0])
        assert client.get(job)["JobState"] == "Scheduled"
        client.reset("On")
        wait_for(lambda: client.get(job)["JobState"] == "Running")
        assert fleet.truth(NAME)["phase"] == "post"
        wait_for(lambda: client.get(job)["JobState"] == "Completed")
        assert client.versions()["Installed-159-2.5.4__BIOS.Setup.1-1"] == "2.5.4"
        assert client.get("/redfish/v1/Systems/System.Embedded.1")["BiosVersion"] == "2.5.4"


def test_a_scheduled_job_can_be_taken_out_of_the_queue() -> None:
    """iDRAC: DELETE of a job, and DellJobService.DeleteJobQueue."""
    with EmulatedFleet([Bmc("dell-xe9680")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        manager = "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell"
        for how in ("delete", "queue"):
            push(client, package("bios", "2.5.4", "dell-xe9680"), {"Targets": [DELL_BIOS], APPLY: "OnReset"})
            job = f"{manager}/Jobs/{ended(client, 'Pending')['Id']}"
            if how == "delete":
                assert client.send("DELETE", job).status_code == 204
            else:
                action = f"{manager}/DellJobService/Actions/DellJobService.DeleteJobQueue"
                assert client.send("POST", action, json={"JobID": "JID_CLEARALL"}).status_code == 204
            assert client.send("GET", job).status_code == 404
        client.reset("On")
        wait_for(lambda: booted(fleet))
        assert fleet.truth(NAME)["flashes"] == {}


def test_install_now_and_reboot_restarts_the_host() -> None:
    """iDRAC, DellUpdateService.Install with NowAndReboot."""
    with EmulatedFleet([Bmc("dell-xe9680")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        client.reset("On")
        wait_for(lambda: booted(fleet))
        headers = {"If-Match": client.send("GET", INVENTORY).headers["ETag"]}
        content = package("bios", "2.5.4", "dell-xe9680")
        where = client.send("POST", INVENTORY, data=content, headers=headers).headers["Location"]
        body = {"SoftwareIdentityURIs": [where], "InstallUpon": "NowAndReboot"}
        action = "/redfish/v1/UpdateService/Actions/Oem/DellUpdateService.Install"
        assert client.send("POST", action, json=body).status_code == 202
        wait_for(lambda: "Installed-159-2.5.4__BIOS.Setup.1-1" in ids(client))
        assert ended(client)["TaskStatus"] == "OK"


def test_a_second_slot_is_copied_after_the_activation_and_no_flash_is_taken_meanwhile() -> None:
    """H7; open-nvfwupd waits for the background copy after each BMC update of a GB200."""
    with EmulatedFleet([Bmc("gb200-compute-tray")], speed=300) as fleet:
        client = taken_over(fleet.bmcs[0])
        target = {"Targets": [f"{INVENTORY}/FW_BMC_0"]}
        push(client, package("bmc", "GB200Nvl-25.06-A", "gb200-compute-tray"), target)
        wait_for(lambda: fleet.truth(NAME)["firmware"]["FW_BMC_0"]["active"] == "GB200Nvl-25.06-A")
        wait_for(lambda: fleet.truth(NAME)["bmc_answers"])
        slots = entry(client, "FW_BMC_0")["Oem"]["Nvidia"]
        assert slots["BackgroundCopyStatus"] == "InProgress"
        assert slots["InactiveFirmwareSlot"] == {
            "FirmwareState": "Updating",
            "SlotId": 1,
            "Version": "GB200Nvl-24.12-8",
        }
        push(client, package("bmc", "GB200Nvl-25.06-B", "gb200-compute-tray"), target)
        assert "still being copied" in ended(client, "Exception")["Messages"][-1]["Message"]
        wait_for(lambda: entry(client, "FW_BMC_0")["Oem"]["Nvidia"]["BackgroundCopyStatus"] == "Completed")
        slots = entry(client, "FW_BMC_0")["Oem"]["Nvidia"]
        assert slots["ActiveFirmwareSlot"]["Version"] == slots["InactiveFirmwareSlot"]["Version"] == "GB200Nvl-25.06-A"


def test_a_write_protected_part_is_not_written() -> None:
    """H12: WriteProtected of GB200's BMC image; it can be taken away."""
    with EmulatedFleet([Bmc("gb200-compute-tray")]) as fleet:
        client = taken_over(fleet.bmcs[0])
        path = f"{INVENTORY}/FW_BMC_0"
        assert client.send("PATCH", path, json={"WriteProtected": "yes"}).status_code == 400
        assert client.send("PATCH", f"{INVENTORY}/UEFI", json={"WriteProtected": True}).status_code == 400
        assert client.send("PATCH", path, json={"WriteProtected": True}).status_code == 204
        assert client.get(path)["WriteProtected"] is True
        push(client, package("bmc", "GB200Nvl-25.06-A", "gb200-compute-tray"), {"Targets": [path]})
        assert "write protected" in ended(client, "Exception")["Messages"][-1]["Message"]
        client.send("PATCH", path, json={"WriteProtected": False})
        push(client, package("bmc", "GB200Nvl-25.06-A", "gb200-compute-tray"), {"Targets": [path]})
        wait_for(lambda: fleet.truth(NAME)["firmware"]["FW_BMC_0"]["active"] == "GB200Nvl-25.06-A")


@pytest.mark.parametrize(
    ("component", "name", "version", "after"),
    [
        ("cpld", "Installed-27763-1.2.3__CPLD.Embedded.1", "1.2.6", "version not available"),
        ("bios", "Installed-159-2.1.5__BIOS.Setup.1-1", "2.5.4", "2.1.5"),
    ],
    ids=["one-slot", "two-slots"],
)
def test_power_lost_in_a_flash(component: str, name: str, version: str, after: str) -> None:
    """H1: what has two slots runs its old version, what has one runs nothing; it can be flashed again."""
    with EmulatedFleet([Bmc("dell-xe9680")], speed=60) as fleet:
        client = BmcClient(fleet.bmcs[0])
        push(client, package(component, version, "dell-xe9680"), {"Targets": [f"{INVENTORY}/{name}"]})
        wait_for(lambda: "InstallingOnComponent" in keys(tasks(client)[-1]))
        fleet.act(NAME, "power-loss")
        versions = {key.partition("__")[2]: one for key, one in fleet.truth(NAME)["firmware"].items()}
        assert versions[name.partition("__")[2]] == {"active": after, "staged": None}
        fleet.act(NAME, "power-restore")
        wait_for(lambda: fleet.truth(NAME)["bmc_answers"])
        client = BmcClient(fleet.bmcs[0])
        assert tasks(client)[-1]["TaskState"] == "Exception"
        shown = next(one for one in ids(client) if one.endswith(name.partition("__")[2]))
        state = entry(client, shown)["Status"]["State"]
        assert state == ("UnavailableOffline" if component == "cpld" else "Enabled")
        push(client, package(component, version, "dell-xe9680"), {"Targets": [f"{INVENTORY}/{shown}"]})
        ended(client)
        assert version in str(fleet.truth(NAME)["firmware"])


def test_an_ac_cycle_activates_all_that_waits() -> None:
    """H10: what needs a power cycle is there after the mains were gone."""
    with EmulatedFleet() as fleet:
        client = BmcClient(fleet.bmcs[0])
        for component, version in (("cpld", "F5.11.CD"), ("bios", NEW_BIOS), ("nic", "28.39.40.82")):
            push(client, package(component, version))
            ended(client)
        fleet.act(NAME, "power-loss")
        fleet.act(NAME, "power-restore")
        firmware = fleet.truth(NAME)["firmware"]
        found = [firmware[name]["active"] for name in ("CPLD_Motherboard", "BIOS", "NIC8")]
        assert found == ["F5.11.CD", NEW_BIOS, "28.39.40.82"]


def test_a_stronger_event_does_what_the_weaker_ones_do() -> None:
    """An AC cycle is a power cycle, and that is a reset of the host; neither is done by a reset of the BMC."""
    assert ACTIVATED_BY["host_reset"] < ACTIVATED_BY["power_cycle"] < ACTIVATED_BY["aux_cycle"]
    assert ACTIVATED_BY["aux_cycle"] < ACTIVATED_BY["ac_cycle"]
    assert ACTIVATED_BY["bmc_reset"] == {"bmc_reset"}


def test_software_inventory_lists_drivers(client: BmcClient) -> None:
    """DGX H100: HGX_Driver_GPU_SXM_1..8 beside the firmware; off with the host."""
    members = client.get("/redfish/v1/UpdateService/SoftwareInventory")["Members"]
    assert len(members) == 8
    assert client.get(members[0]["@odata.id"])["Status"]["State"] == "StandbyOffline"
    assert client.send("GET", f"{TASKS}/99").status_code == 404
