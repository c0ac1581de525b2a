"""BIOS settings wait for their apply time; passwords, jobs and power cycles by attribute. Over HTTPS."""

import datetime as dt

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bios_site import DELL, ON_RESET, boot, stage
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.test_update import task_state


def test_applied_settings_have_a_time_and_what_needs_no_reset_is_in_force(
    bios_fleet: EmulatedFleet, dell: BmcClient
) -> None:
    """DSP0266, settings resource: Time after it was applied; ResetRequired false means at once."""
    assert "Time" not in dell.get(DELL)["@Redfish.Settings"]
    assert stage(dell, f"{DELL}/Settings", {"AssetTag": "row 7", "BootSeqRetry": "Disabled"}).status_code == 200
    assert dell.get(DELL)["Attributes"]["AssetTag"] == "row 7"
    assert dell.get(f"{DELL}/Settings")["Attributes"] == {"BootSeqRetry": "Disabled"}
    boot(bios_fleet, dell)
    assert dell.get(DELL)["Attributes"]["BootSeqRetry"] == "Disabled"
    assert dell.get(DELL)["@Redfish.Settings"]["Time"].endswith("+00:00")


def test_apply_times_are_those_that_are_listed_and_a_window_has_a_begin(
    bios_fleet: EmulatedFleet, dell: BmcClient
) -> None:
    """DSP0266: @Redfish.SettingsApplyTime."""
    assert "InMaintenanceWindowOnReset" in dell.get(DELL)["@Redfish.Settings"]["SupportedApplyTimes"]
    wanted = {"BootSeqRetry": "Disabled"}
    for apply_time, message in (
        ({"ApplyTime": "Immediate"}, "PropertyValueNotInList"),
        ({}, "PropertyMissing"),
        ({"ApplyTime": "InMaintenanceWindowOnReset"}, "PropertyMissing"),
    ):
        answer = stage(dell, f"{DELL}/Settings", wanted, **{"@Redfish.SettingsApplyTime": apply_time})
        assert answer.status_code == 400
        assert message in answer.text
    later = {
        "ApplyTime": "InMaintenanceWindowOnReset",
        "MaintenanceWindowStartTime": "2199-01-01T00:00:00+00:00",
        "MaintenanceWindowDurationInSeconds": 600,
    }
    assert stage(dell, f"{DELL}/Settings", wanted, **{"@Redfish.SettingsApplyTime": later}).status_code == 200
    boot(bios_fleet, dell)
    assert dell.get(DELL)["Attributes"]["BootSeqRetry"] == "Enabled"
    assert stage(dell, f"{DELL}/Settings", wanted, **ON_RESET).status_code == 200
    boot(bios_fleet, dell)
    assert dell.get(DELL)["Attributes"]["BootSeqRetry"] == "Disabled"


def test_password_is_never_shown_and_changes_only_for_those_who_know_it(dell: BmcClient) -> None:
    """DSP0268, Bios.ChangePassword."""
    assert dell.get(DELL)["Attributes"]["SetupPassword"] is None
    path = f"{DELL}/Actions/Bios.ChangePassword"
    body = {"PasswordName": "SetupPassword", "OldPassword": "", "NewPassword": "first-one"}
    assert dell.send("POST", path, json=body).status_code == 204
    assert dell.send("POST", path, json=body).status_code == 400
    assert dell.send("POST", path, json={**body, "PasswordName": "Other"}).status_code == 400
    assert dell.send("POST", path, json={**body, "OldPassword": "first-one", "NewPassword": ""}).status_code == 204
    assert "first-one" not in dell.send("GET", DELL).text


def test_config_job_waits_runs_in_post_and_completes() -> None:
    """dell/iDRAC-Redfish-Scripting#32: Scheduled until the host restarts; #249: nothing more may be set meanwhile."""
    fault = "bios-config-job"
    with EmulatedFleet([Bmc("dell-xe9680", faults=(fault,))], speed=300) as fleet:
        client = BmcClient(fleet.bmcs[0])
        assert stage(client, f"{DELL}/Settings", {"BootSeqRetry": "Disabled"}).status_code == 200
        answer = stage(client, f"{DELL}/Settings", {"LogicalProc": "Disabled"}, **ON_RESET)
        assert (answer.status_code, task_state(client)) == (202, "Pending")
        blocked = stage(client, f"{DELL}/Settings", {"BootSeqRetry": "Enabled"})
        assert (blocked.status_code, "SYS011" in blocked.text) == (400, True)
        client.reset("On")
        wait_for(lambda: task_state(client) == "Running")
        wait_for(lambda: task_state(client) == "Completed")
        bios = client.get(DELL)["Attributes"]
        assert (bios["BootSeqRetry"], bios["LogicalProc"]) == ("Disabled", "Disabled")
        assert stage(client, f"{DELL}/Settings", {"BootSeqRetry": "Enabled"}).status_code == 200


def test_attribute_that_asks_for_a_power_cycle_takes_the_bmc_down_once() -> None:
    """Dell's PowerCycleRequest=FullPowerCycle is a virtual AC cycle at the next boot."""
    with EmulatedFleet([Bmc("dell-xe9680")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        assert stage(client, f"{DELL}/Settings", {"PowerCycleRequest": "FullPowerCycle"}).status_code == 200
        client.reset("On")
        wait_for(lambda: fleet.truth("r01-u01")["bmc_resets"] == 1)
        wait_for(lambda: fleet.truth("r01-u01")["phase"] == "no-bootable-device")
        assert fleet.truth("r01-u01")["bios"]["PowerCycleRequest"] == "None"


def test_job_in_the_queue_applies_what_is_pending() -> None:
    """dell/iDRAC-Redfish-Scripting#84: PATCH, then POST of TargetSettingsURI to the job queue."""
    with EmulatedFleet([Bmc("dell-xe9680", faults=("bios-needs-apply-time",))]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        jobs = "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/Jobs"
        body = {"TargetSettingsURI": f"{DELL}/Settings"}
        assert client.send("POST", jobs, json=body).status_code == 400
        stage(client, f"{DELL}/Settings", {"BootSeqRetry": "Disabled"})
        assert client.send("POST", jobs, json={"TargetSettingsURI": DELL}).status_code == 400
        answer = client.send("POST", jobs, json=body)
        assert (answer.status_code, task_state(client)) == (202, "Pending")
        job = client.get(client.get(jobs)["Members"][-1]["@odata.id"])
        assert (job["JobState"], job["JobType"]) == ("Scheduled", "BIOSConfiguration")
        assert client.send("POST", jobs, json=body).status_code == 400
        boot(fleet, client)
        assert client.get(DELL)["Attributes"]["BootSeqRetry"] == "Disabled"
        assert task_state(client) == "Completed"


def test_window_that_begins_soon_restarts_the_host_by_itself() -> None:
    """DSP0266: AtMaintenanceWindowStart applies at the start of the window."""
    with EmulatedFleet([Bmc("dell-xe9680", power="On")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        soon = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=1)
        window = {
            "ApplyTime": "AtMaintenanceWindowStart",
            "MaintenanceWindowStartTime": soon.isoformat(),
            "MaintenanceWindowDurationInSeconds": 600,
        }
        wanted = {"BootSeqRetry": "Disabled"}
        answer = stage(client, f"{DELL}/Settings", wanted, **{"@Redfish.SettingsApplyTime": window})
        assert answer.status_code == 200
        assert client.get(DELL)["Attributes"]["BootSeqRetry"] == "Enabled"
        wait_for(lambda: client.get(DELL)["Attributes"]["BootSeqRetry"] == "Disabled")
        assert fleet.truth("r01-u01")["resets"] == 1
