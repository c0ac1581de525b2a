"""What goes wrong with BIOS settings, one test for each fault; over HTTPS."""

import pytest

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bios_site import DELL, ON_RESET, SMC, boot, stage
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer
from tests.emulator.test_update import INVENTORY, package, task_state, update


def test_text_is_taken_for_an_integer_and_stays_text(bios_fleet: EmulatedFleet, smc: BmcClient) -> None:
    """ironcore-dev/metal-operator#1049."""
    bios_fleet.set_fault("r01-u01", "bios-takes-text")
    assert stage(smc, f"{SMC}/SD", {"PXEBootWaitTime_00F8": "2"}).status_code == 200
    boot(bios_fleet, smc)
    assert smc.get(SMC)["Attributes"]["PXEBootWaitTime_00F8"] == "2"


def test_pending_values_are_not_applied_without_an_apply_time(bios_fleet: EmulatedFleet, dell: BmcClient) -> None:
    """dell/iDRAC-Redfish-Scripting#84."""
    bios_fleet.set_fault("r01-u02", "bios-needs-apply-time")
    stage(dell, f"{DELL}/Settings", {"BootSeqRetry": "Disabled"})
    boot(bios_fleet, dell)
    assert dell.get(DELL)["Attributes"]["BootSeqRetry"] == "Enabled"
    assert dell.get(f"{DELL}/Settings")["Attributes"] == {"BootSeqRetry": "Disabled"}
    stage(dell, f"{DELL}/Settings", {}, **ON_RESET)
    boot(bios_fleet, dell)
    assert dell.get(DELL)["Attributes"]["BootSeqRetry"] == "Disabled"


def test_deleting_the_job_drops_its_values(bios_fleet: EmulatedFleet, dell: BmcClient) -> None:
    """dell/iDRAC-Redfish-Scripting#249."""
    bios_fleet.set_fault("r01-u02", "bios-config-job")
    answer = stage(dell, f"{DELL}/Settings", {"BootSeqRetry": "Disabled"}, **ON_RESET)
    assert answer.status_code == 202
    task = dell.get("/redfish/v1/TaskService/Tasks")["Members"][-1]["@odata.id"]
    assert dell.send("DELETE", task).status_code in (200, 204)
    assert dell.get(f"{DELL}/Settings")["Attributes"] == {}
    boot(bios_fleet, dell)
    assert dell.get(DELL)["Attributes"]["BootSeqRetry"] == "Enabled"


def test_busy_and_not_ready_are_told_apart_by_status_and_message(bios_fleet: EmulatedFleet, dell: BmcClient) -> None:
    """quadsproject/badfish#1: 503 with a pending job; #129: 400 that means not ready."""
    bios_fleet.set_fault("r01-u02", "bios-not-ready", {"times": 1})
    answer = stage(dell, f"{DELL}/Settings", {"BootSeqRetry": "Disabled"})
    assert (answer.status_code, "SWC0700" in answer.text) == (400, True)
    assert stage(dell, f"{DELL}/Settings", {"BootSeqRetry": "Disabled"}).status_code == 200
    bios_fleet.set_fault("r01-u02", "bios-busy-with-job")
    assert stage(dell, f"{DELL}/Settings", {"LogicalProc": "Disabled"}).status_code == 503


def test_bios_shows_what_is_not_yet_in_force(bios_fleet: EmulatedFleet, dell: BmcClient) -> None:
    """dsx-ai-factory/libredfish#25."""
    bios_fleet.set_fault("r01-u02", "bios-shows-pending")
    stage(dell, f"{DELL}/Settings", {"BootSeqRetry": "Disabled"})
    assert dell.get(DELL)["Attributes"]["BootSeqRetry"] == "Disabled"
    assert bios_fleet.truth("r01-u02")["bios"]["BootSeqRetry"] == "Enabled"


def test_bios_shows_old_values_for_one_boot(bios_fleet: EmulatedFleet, smc: BmcClient) -> None:
    """HewlettPackard/python-ilorest-library#105."""
    bios_fleet.set_fault("r01-u01", "bios-shows-old-values")
    stage(smc, f"{SMC}/SD", {"NUMA_003B": "Disabled"})
    boot(bios_fleet, smc)
    assert smc.get(SMC)["Attributes"]["NUMA_003B"] == "Enabled"
    assert bios_fleet.truth("r01-u01")["bios"]["NUMA_003B"] == "Disabled"
    boot(bios_fleet, smc)
    assert smc.get(SMC)["Attributes"]["NUMA_003B"] == "Disabled"


def test_settings_object_has_moved(bios_fleet: EmulatedFleet, dell: BmcClient) -> None:
    """dsx-ai-factory/libredfish#28: follow the link."""
    bios_fleet.set_fault("r01-u02", "bios-settings-moved")
    assert dell.send("GET", f"{DELL}/Settings").status_code == 404
    place = dell.get(DELL)["@Redfish.Settings"]["SettingsObject"]["@odata.id"]
    assert dell.get(place)["@odata.id"] == place
    assert stage(dell, f"{DELL}/Settings", {"BootSeqRetry": "Disabled"}).status_code == 404
    assert stage(dell, place, {"BootSeqRetry": "Disabled"}).status_code == 200
    assert dell.get(place)["Attributes"] == {"BootSeqRetry": "Disabled"}


def test_settings_object_is_there_only_after_its_parent_was_read() -> None:
    """dsx-ai-factory/libredfish#127."""
    with EmulatedFleet([Bmc(faults=("bios-lazy-settings",))]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        assert client.send("GET", f"{SMC}/SD").status_code == 404
        client.get(SMC)
        assert client.get(f"{SMC}/SD")["Attributes"] == {}


def test_absent_attribute_is_refused_as_a_value(bios_fleet: EmulatedFleet, smc: BmcClient) -> None:
    """dsx-ai-factory/infra-controller#5215: MessageArgs name the attribute."""
    bios_fleet.set_fault("r01-u01", "bios-misnames-attribute")
    answer = stage(smc, f"{SMC}/SD", {"TPM": "Enabled"})
    said = answer.json()["error"]["@Message.ExtendedInfo"][0]
    assert answer.status_code == 400
    assert (said["MessageId"].rpartition(".")[2], said["MessageArgs"][0]) == ("PropertyValueNotInList", "TPM")


@pytest.mark.parametrize("how", ["no-object", "no-attributes"])
def test_bios_without_a_settings_object_or_with_an_empty_one(
    how: str, bios_fleet: EmulatedFleet, smc: BmcClient
) -> None:
    """DMTF/Redfish-Tacklebox#55, ansible-collections/community.general#6433."""
    bios_fleet.set_fault("r01-u01", "bios-no-settings", {"how": how})
    if how == "no-object":
        assert "@Redfish.Settings" not in smc.get(SMC)
        assert smc.send("GET", f"{SMC}/SD").status_code == 404
        assert stage(smc, SMC, {"NUMA_003B": "Disabled"}).status_code == 200
    else:
        assert "Attributes" not in smc.get(f"{SMC}/SD")
        assert stage(smc, f"{SMC}/SD", {"NUMA_003B": "Disabled"}).status_code == 200
        assert smc.get(f"{SMC}/SD")["Attributes"] == {"NUMA_003B": "Disabled"}
    boot(bios_fleet, smc)
    assert smc.get(SMC)["Attributes"]["NUMA_003B"] == "Disabled"


def test_bios_itself_is_read_only_where_there_is_a_settings_object(smc: BmcClient) -> None:
    """DSP0266: changes go to the settings resource."""
    answer = stage(smc, SMC, {"NUMA_003B": "Disabled"})
    assert (answer.status_code, "PropertyNotWritable" in answer.text) == (400, True)


def test_good_part_of_a_mixed_change_is_taken_with_a_message_beside_the_bad_one(
    bios_fleet: EmulatedFleet, smc: BmcClient
) -> None:
    """ibm-openbmc/bmcweb#70."""
    bios_fleet.set_fault("r01-u01", "bios-partial-change")
    answer = stage(smc, f"{SMC}/SD", {"NUMA_003B": "Disabled", "BIOSVersion_0001": "2"})
    assert answer.status_code == 200
    said = answer.json()["Attributes"]["BIOSVersion_0001@Message.ExtendedInfo"][0]
    assert said["MessageId"].endswith("PropertyNotWritable")
    assert smc.get(f"{SMC}/SD")["Attributes"] == {"NUMA_003B": "Disabled"}


def test_reset_of_the_bios_may_need_a_body(bios_fleet: EmulatedFleet, smc: BmcClient) -> None:
    """openstack/sushy, release note fix-2008198: 415 without a content type, 400 without a body."""
    path = f"{SMC}/Actions/Bios.ResetBios"
    assert smc.send("POST", path).status_code == 204
    bios_fleet.set_fault("r01-u01", "bios-reset-needs-body")
    assert smc.send("POST", path).status_code == 415
    assert smc.send("POST", path, headers={"Content-Type": "application/json"}).status_code == 400
    assert smc.send("POST", path, json={}).status_code == 204


def test_values_are_gone_after_the_reset_and_not_in_force(bios_fleet: EmulatedFleet, smc: BmcClient) -> None:
    """dell/terraform-provider-redfish#231."""
    bios_fleet.set_fault("r01-u01", "bios-job-changes-nothing")
    stage(smc, f"{SMC}/SD", {"NUMA_003B": "Disabled"})
    boot(bios_fleet, smc)
    assert smc.get(SMC)["Attributes"]["NUMA_003B"] == "Enabled"
    assert smc.get(f"{SMC}/SD")["Attributes"] == {}


def test_update_of_the_bios_takes_its_settings_away() -> None:
    """Hazard: the flash succeeds, the settings are the factory's again."""
    fault = "bios-defaults-after-update"
    with EmulatedFleet([Bmc(faults=(fault,))]) as fleet, BootServer() as server:
        client = BmcClient(fleet.bmcs[0])
        stage(client, f"{SMC}/SD", {"NUMA_003B": "Disabled"})
        boot(fleet, client)
        assert client.get(SMC)["Attributes"]["NUMA_003B"] == "Disabled"
        update(client, server, package("bios", "BIOS Date: 02/14/2025 Ver 2.5"), [f"{INVENTORY}/BIOS"])
        wait_for(lambda: task_state(client) == "Completed")
        boot(fleet, client)
        assert client.get(SMC)["Attributes"]["NUMA_003B"] == "Enabled"
