"""What goes wrong with tasks and jobs of a BMC: each fault does what it says, over HTTPS."""

import time

import pytest

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.one_bmc import BIOS, OneBmc
from tests.emulator.updates import INVENTORY, NEW_BIOS, TASKS, ended, keys, package, push, tasks


@pytest.mark.parametrize(
    ("where", "location", "body"),
    [
        ("header", "/redfish/v1/TaskMonitor/0", ""),
        ("body", None, "TaskState"),
        ("message", None, f"{TASKS}/0"),
        ("none", None, ""),
        ("absolute", "https://{host}/redfish/v1/TaskMonitor/0", "Accepted"),
        ("relative", "TaskMonitor/0", "Accepted"),
        ("internal-host", "https://bmc.internal.example/redfish/v1/TaskMonitor/0", "Accepted"),
    ],
)
def test_a_task_is_named_in_many_places(one: OneBmc, where: str, location: str | None, body: str) -> None:
    """F8 and F10, stmcginnis/gofish#494 and metal-toolbox/bmclib#399."""
    client = one.client()
    answer = one.flash("task-location", where=where)
    host = client.bmc.url.removeprefix("https://")
    assert answer.status_code == 202
    assert answer.headers.get("Location") == (location.replace("{host}", host) if location else None)
    assert body in answer.text
    assert bool(answer.text) == bool(body)
    ended(client)
    assert one.staged() == NEW_BIOS


@pytest.mark.parametrize("state", ["Completed", "Exception", "Cancelled", "Killed"])
@pytest.mark.parametrize("status", ["OK", "Warning", "Critical"])
@pytest.mark.parametrize("version", ["new", "old"])
def test_state_status_and_version_agree_in_no_way(one: OneBmc, state: str, status: str, version: str) -> None:
    """F11, ironcore-dev/metal-operator#453: Completed, Critical, a JCP message, and the old version."""
    client = one.client()
    before = one.truth()["flashes"].get("BIOS", {}).get(NEW_BIOS, 0)
    arguments = {"state": state, "status": status, "version": version, "message_id": "IDRAC.2.8.JCP037"}
    one.flash("task-ends", **arguments)
    task = ended(client, state)
    assert (task["TaskStatus"], task["Messages"][-1]["MessageId"]) == (status, "IDRAC.2.8.JCP037")
    flashed = one.truth()["flashes"].get("BIOS", {}).get(NEW_BIOS, 0) - before
    assert flashed == (1 if version == "new" else 0)


@pytest.mark.parametrize("state", ["Interrupted", "Suspended", "Stopping", "Service"])
def test_a_task_waits_for_somebody_and_says_no_more(one: OneBmc, state: str) -> None:
    """F32, ansible-collections/community.general#5580: a state that only a person ends."""
    one.flash("task-ends", state=state, status="Warning")
    assert ended(one.client(), state)["TaskStatus"] == "Warning"
    assert one.staged() is None


def test_completed_critical_then_the_bmc_restarts(one: OneBmc) -> None:
    """F11, the same with the restart that followed."""
    one.flash("task-ends", bmc_reset=True, times=1)
    wait_for(one.restarted)
    assert one.staged() is None


def test_percent_that_does_not_move(one: OneBmc) -> None:
    """F15, fwupd/fwupd#7593."""
    client = one.client()
    with EmulatedFleet([Bmc(faults=({"task-percent-constant": {"percent": 7}},))], speed=300) as slow:
        client = BmcClient(slow.bmcs[0])
        push(client, package("bios", NEW_BIOS), BIOS)
        wait_for(lambda: "InstallingOnComponent" in keys(tasks(client)[-1]))
        assert tasks(client)[-1]["PercentComplete"] == 7
        assert ended(client)["PercentComplete"] == 100


def test_a_task_is_gone_after_some_looks(one: OneBmc) -> None:
    """F25, ironcore-dev/metal-operator#617: 404 at poll k, the flash succeeds."""
    client = one.client()
    location = one.flash("task-vanishes", when="poll", polls=2).headers["Location"]
    wait_for(one.staged)
    assert [client.send("GET", location).status_code for _ in range(3)] == [200, 200, 404]


def test_success_and_no_task(one: OneBmc) -> None:
    """F27, ibm-openbmc/dev#2522."""
    client = one.client()
    answer = one.flash("update-names-no-task")
    assert (answer.status_code, "Location" in answer.headers, tasks(client)) == (200, False, [])
    wait_for(lambda: one.staged() == NEW_BIOS)


def test_messages_of_an_unknown_registry(one: OneBmc) -> None:
    """F28, ibm-openbmc/bmcweb#519."""
    client = one.client()
    one.flash("task-oem-messages")
    assert "AcmeUpdate.0.9.ComponentStatus" in str(ended(client)["Messages"])


def test_a_monitor_that_is_not_there(one: OneBmc) -> None:
    """F29, openstack/sushy, release note fixes-ilo5-redfish-firmware-update."""
    client = one.client()
    location = one.flash("monitor-missing").headers["Location"]
    assert client.send("GET", location).status_code == 404
    assert ended(client)["TaskState"] == "Completed"


def test_a_job_waits_for_the_reset_of_the_host(one: OneBmc) -> None:
    """F31, dell/iDRAC-Redfish-Scripting#32."""
    client = one.client()
    one.flash("job-waits-for-reset")
    ended(client, "Pending")
    assert (one.staged(), one.truth()["flashes"]) == (None, {})
    client.reset("On")
    wait_for(lambda: client.get(f"{INVENTORY}/BIOS")["Version"] == NEW_BIOS)
    ended(client)


def test_a_task_that_never_ends(one: OneBmc) -> None:
    """F33, metal3-io/baremetal-operator#3001; a restart of the BMC ends it."""
    client = one.client()
    one.flash("task-never-ends")
    time.sleep(0.5)
    task = tasks(client)[-1]
    assert (task["TaskState"], task["PercentComplete"] < 100) == ("Running", True)
    assert push(client, package("nic", "1")).status_code == 503
    client.send("POST", "/redfish/v1/Managers/1/Actions/Manager.Reset", json={"ResetType": "GracefulRestart"})
    wait_for(one.restarted)
    one.clear_fault("task-never-ends")
    assert push(one.client(), package("nic", "1")).status_code == 202


def test_see_other_after_a_post(one: OneBmc) -> None:
    """F35, DMTF/python-redfish-library#98: 303 is followed with GET."""
    client = one.client()
    one.set_fault("post-answers-303")
    answer = push(client, package("bios", NEW_BIOS), BIOS)
    assert [one.status_code for one in answer.history] == [303]
    assert answer.json()["@odata.type"].startswith("#Task.")


def test_a_task_that_answers_202(one: OneBmc) -> None:
    """F36, DMTF/Redfish-Service-Validator#384."""
    client = one.client()
    with EmulatedFleet([Bmc(faults=("task-get-202",))], speed=300) as slow:
        client = BmcClient(slow.bmcs[0])
        push(client, package("bios", NEW_BIOS), BIOS)
        assert client.send("GET", f"{TASKS}/0").status_code == 202
        wait_for(lambda: client.send("GET", f"{TASKS}/0").status_code == 200)
