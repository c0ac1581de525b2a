"""Tasks, their monitors and jobs of an emulated BMC, over HTTPS."""

from typing import Any

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.updates import INVENTORY, NEW_BIOS, SERVICE, TASKS, ended, keys, package, push, tasks

_BIOS = {"Targets": [f"{INVENTORY}/BIOS"]}


def test_a_monitor_answers_202_until_the_operation_has_ended() -> None:
    """DSP0266, "Asynchronous operations": 202 with Location and Retry-After, then what the request would have got."""
    with EmulatedFleet(speed=600) as fleet:
        client = BmcClient(fleet.bmcs[0])
        accepted = push(client, package("bios", NEW_BIOS), _BIOS)
        monitor = accepted.headers["Location"]
        assert accepted.headers["Retry-After"]
        running = client.send("GET", monitor)
        assert running.status_code == 202
        assert (running.headers["Location"], running.headers["Retry-After"]) == (monitor, "1")
        wait_for(lambda: client.send("GET", monitor).status_code == 200)
        assert client.send("GET", monitor).json()["TaskState"] == "Completed"


def test_the_monitor_of_a_failed_update_answers_with_its_error(client: BmcClient) -> None:
    """DSP0266: the monitor answers with the error that the operation ended with."""
    monitor = push(client, b"no package").headers["Location"]
    ended(client, "Exception")
    answer = client.send("GET", monitor)
    assert answer.status_code == 400
    assert "not a firmware package" in answer.json()["error"]["@Message.ExtendedInfo"][0]["Message"]


def test_messages_of_a_task_tell_the_steps_of_the_update() -> None:
    """DMTF's Update registry; percent grows meanwhile, and Payload says what was asked for."""
    with EmulatedFleet(speed=300) as fleet:
        client = BmcClient(fleet.bmcs[0])
        push(client, package("bios", NEW_BIOS), _BIOS)
        seen = wait_for(lambda: [task for task in tasks(client) if 20 < task["PercentComplete"] < 90])[0]
        assert seen["EndTime" if "EndTime" in seen else "TaskState"] == "Running"
        task = ended(client)
        assert keys(task) == [
            "TargetDetermined",
            "AllTargetsDetermined",
            "TransferringToComponent",
            "VerifyingAtComponent",
            "InstallingOnComponent",
            "ApplyingOnComponent",
            "AwaitToActivate",
            "Success",
        ]
        assert task["Messages"][2]["MessageArgs"] == [f"bios {NEW_BIOS}", "BIOS"]
        assert task["Payload"]["TargetUri"] == client.get(SERVICE)["MultipartHttpPushUri"]


def test_delete_removes_a_task_that_has_ended_and_cancels_one_that_runs() -> None:
    """DSP0266: DELETE of the task or of its monitor; what is being written cannot be cancelled."""
    with EmulatedFleet(speed=60) as fleet:
        client = BmcClient(fleet.bmcs[0])
        push(client, package("bios", NEW_BIOS), _BIOS)
        wait_for(lambda: "TransferringToComponent" in keys(tasks(client)[-1]))
        first = client.get(TASKS)["Members"][0]["@odata.id"]
        assert client.send("DELETE", first).status_code == 204
        assert client.send("GET", first).status_code == 404
        push(client, package("bios", NEW_BIOS), _BIOS)
        wait_for(lambda: "InstallingOnComponent" in keys(tasks(client)[-1]))
        second = client.get(TASKS)["Members"][-1]["@odata.id"]
        assert client.send("DELETE", second).status_code == 409
        ended(client)
        assert fleet.truth("r01-u01")["flashes"] == {"BIOS": {NEW_BIOS: 1}}
        assert client.send("DELETE", second).status_code == 204
        assert client.get(TASKS)["Members"] == []


def test_the_oldest_task_goes_when_there_are_too_many(client: BmcClient) -> None:
    """CompletedTaskOverWritePolicy Oldest."""
    assert client.get("/redfish/v1/TaskService")["CompletedTaskOverWritePolicy"] == "Oldest"
    for _ in range(66):
        push(client, b"no package")
        wait_for(lambda: client.get(TASKS)["Members"] and tasks_end(client))
    members = [member["@odata.id"] for member in client.get(TASKS)["Members"]]
    assert (len(members), members[0], members[-1]) == (64, f"{TASKS}/2", f"{TASKS}/65")


def tasks_end(client: BmcClient) -> bool:
    newest: dict[str, Any] = client.get(client.get(TASKS)["Members"][-1]["@odata.id"])
    return bool(newest["TaskState"] == "Exception")


def test_dell_shows_each_task_as_a_job_too() -> None:
    """iDRAC: JID_... at TaskService, at JobService and below the manager; they outlive its restart."""
    with EmulatedFleet([Bmc("dell-xe9680")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        assert client.get("/redfish/v1")["JobService"]["@odata.id"] == "/redfish/v1/JobService"
        push(client, package("psu", "00.1D.7E", "dell-xe9680"))
        task = ended(client)
        assert task["Id"].startswith("JID_")
        manager = "/redfish/v1/Managers/iDRAC.Embedded.1"
        job = client.get(f"{manager}/Oem/Dell/Jobs/{task['Id']}")
        assert (job["JobState"], job["MessageId"], job["PercentComplete"]) == ("Completed", "PR19", 100)
        plain = client.get(f"/redfish/v1/JobService/Jobs/{task['Id']}")
        assert (plain["JobState"], plain["JobStatus"]) == ("Completed", "OK")
        resets = fleet.truth("r01-u01")["bmc_resets"]
        client.send("POST", f"{manager}/Actions/Manager.Reset", json={"ResetType": "GracefulRestart"})
        wait_for(lambda: fleet.truth("r01-u01")["bmc_resets"] > resets and fleet.truth("r01-u01")["bmc_answers"])
        assert BmcClient(fleet.bmcs[0]).get(f"{TASKS}/{task['Id']}")["TaskState"] == "Completed"


def test_other_bmcs_have_no_jobs(client: BmcClient) -> None:
    """Supermicro's BMC has no JobService."""
    assert "JobService" not in client.get("/redfish/v1")
    for path in ("/redfish/v1/JobService", "/redfish/v1/JobService/Jobs", "/redfish/v1/Managers/1/Oem/Dell/Jobs"):
        assert client.send("GET", path).status_code == 404
