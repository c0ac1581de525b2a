"""Each fault does what it says, over HTTPS."""

from collections.abc import Iterator

import pytest
import requests

from emulator.faults.catalog import FAULTS
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer, build_root
from tests.emulator.test_update import INVENTORY, package, task_state, update

NAME = "r01-u01"
SYSTEM = "/redfish/v1/Systems/1"
HTTP_SUPPORT = "IPv4HTTPSupport_00F5"


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """One BMC for all tests of this file; each heals what it broke."""
    with EmulatedFleet() as running:
        yield running


@pytest.fixture
def client(fleet: EmulatedFleet) -> Iterator[BmcClient]:
    """A client with connections of its own; all faults are cleared afterwards."""
    fresh = BmcClient(fleet.bmcs[0])
    fresh.send("GET", "/redfish/v1")  # connects, so that a short time-out is one of the answer
    yield fresh
    for fault in FAULTS:
        fleet.clear_fault(NAME, fault.name)


def test_every_fault_has_a_source() -> None:
    """A fault that nobody has seen is not worth surviving."""
    assert all(fault.source and fault.effect for fault in FAULTS)
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 20


def test_refuse_connections_as_often_as_asked(fleet: EmulatedFleet, client: BmcClient) -> None:
    """Heals by itself after `times`."""
    fleet.set_fault(NAME, "refuse-connections", {"times": 2})
    for _ in range(2):
        with pytest.raises(requests.ConnectionError):
            BmcClient(client.bmc).send("GET", "/redfish/v1")
    assert client.send("GET", "/redfish/v1").status_code == 200
    assert fleet.truth(NAME)["faults"]["refuse-connections"]["happened"] == 2


def test_silent_and_slow_answers(fleet: EmulatedFleet, client: BmcClient) -> None:
    """A read time-out, either way; what was silent was not done."""
    for fault in ("silent", "slow-answers"):
        fleet.set_fault(NAME, fault, {"times": 1, "path": "Systems"})
        with pytest.raises(requests.Timeout):
            client.send("GET", SYSTEM, timeout=1)
        assert client.send("GET", SYSTEM).status_code == 200


def test_answers_that_are_no_redfish(fleet: EmulatedFleet, client: BmcClient) -> None:
    """503, HTML with 200, half a body."""
    fleet.set_fault(NAME, "service-unavailable", {"times": 1, "retry_after": 3})
    answer = client.send("GET", SYSTEM)
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "3")
    fleet.set_fault(NAME, "html-answers", {"times": 1, "method": "GET"})
    answer = client.send("GET", SYSTEM)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html")
    fleet.set_fault(NAME, "half-body", {"times": 1})
    with pytest.raises((requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        client.send("GET", SYSTEM)


def test_post_answer_lost_is_acted_upon_once(fleet: EmulatedFleet, client: BmcClient) -> None:
    """A client that sends it again has done it twice."""
    before = fleet.truth(NAME)["sessions"]
    fleet.set_fault(NAME, "post-answer-lost", {"path": "Sessions", "times": 1})
    login = {"UserName": client.bmc.username, "Password": client.bmc.password}
    with pytest.raises(requests.Timeout):
        client.send("POST", "/redfish/v1/SessionService/Sessions", json=login, timeout=1)
    assert fleet.truth(NAME)["sessions"] == before + 1


def test_identity_that_lies(fleet: EmulatedFleet, client: BmcClient) -> None:
    """Serial numbers that are none, a GPU that is not there."""
    for fault, serial in (("placeholder-serial", "To be filled by O.E.M."), ("duplicate-serial", "0123456789")):
        fleet.set_fault(NAME, fault)
        assert client.get(SYSTEM)["SerialNumber"] == serial
        fleet.clear_fault(NAME, fault)
    fleet.set_fault(NAME, "gpu-missing", {"index": 2})
    members = [member["@odata.id"] for member in client.get(f"{SYSTEM}/Processors")["Members"]]
    assert f"{SYSTEM}/Processors/GPU3" not in members
    assert len(members) == 9


def test_expand_broken_and_etag_required_and_session_limit(fleet: EmulatedFleet, client: BmcClient) -> None:
    """Departures from the standard that clients meet."""
    fleet.set_fault(NAME, "expand-broken")
    expanded = client.get(f"{INVENTORY}?$expand=.($levels=1)")
    assert len(expanded["Members"]) == expanded["Members@odata.count"] // 2
    fleet.set_fault(NAME, "expand-broken", {"how": "links"})
    assert all(list(member) == ["@odata.id"] for member in client.get(f"{INVENTORY}?$expand=.($levels=1)")["Members"])
    fleet.set_fault(NAME, "etag-required")
    assert client.send("PATCH", SYSTEM, json={"Boot": {"BootSourceOverrideTarget": "None"}}).status_code == 428
    fleet.set_fault(NAME, "session-limit")
    login = {"UserName": client.bmc.username, "Password": client.bmc.password}
    assert client.send("POST", "/redfish/v1/SessionService/Sessions", json=login).status_code == 503


def test_wrong_password_is_not_the_one_on_the_label(fleet: EmulatedFleet, client: BmcClient) -> None:
    """Until somebody who knows it changes it."""
    fleet.set_fault(NAME, "wrong-password")
    assert client.send("GET", SYSTEM).status_code == 401
    known = fleet.truth(NAME)["credentials"]["password"]
    client.http.auth = ("ADMIN", known)
    body = {"Password": client.bmc.password}
    assert client.send("PATCH", "/redfish/v1/AccountService/Accounts/2", json=body).status_code == 200
    assert BmcClient(client.bmc).send("GET", SYSTEM).status_code == 200


def test_bios_late_rejection_says_so_after_the_boot(fleet: EmulatedFleet, client: BmcClient) -> None:
    """The value is accepted, then it is not there."""
    fleet.set_fault(NAME, "bios-late-rejection", {"times": 1})
    client.send("PATCH", f"{SYSTEM}/Bios/SD", json={"Attributes": {"NUMA_003B": "Disabled"}})
    client.reset("On")
    wait_for(lambda: fleet.truth(NAME)["phase"] == "no-bootable-device")
    bios = client.get(f"{SYSTEM}/Bios")
    assert bios["Attributes"]["NUMA_003B"] == "Enabled"
    assert bios["@Redfish.Settings"]["Messages"][0]["MessageArgs"] == ["NUMA_003B"]
    client.reset("ForceOff")
    wait_for(lambda: client.get(SYSTEM)["PowerState"] == "Off")


def test_task_vanishes_while_the_flash_succeeds(fleet: EmulatedFleet, client: BmcClient) -> None:
    """Judge by the version, not by the task."""
    for when, number in (("start", 1), ("completion", 2)):
        fleet.set_fault(NAME, "task-vanishes", {"when": when, "times": 1})
        with BootServer() as server:
            location = update(client, server, package("nic", "28.39.40.82"), [f"{INVENTORY}/NIC{number}"])
            wait_for(lambda number=number: fleet.truth(NAME)["firmware"][f"NIC{number}"]["staged"])  # type: ignore[misc]
            assert client.send("GET", location).status_code == 404


def test_task_fails_and_flash_completes_with_the_old_version(fleet: EmulatedFleet, client: BmcClient) -> None:
    """Exception changes nothing; Completed may change nothing either."""
    for fault, state in (("task-fails", "Exception"), ("flash-completes-old-version", "Completed")):
        fleet.set_fault(NAME, fault, {"times": 1})
        with BootServer() as server:
            update(client, server, package("fpga", "2.53"), [f"{INVENTORY}/HGX_FW_FPGA_0"])
            wait_for(lambda state=state: task_state(client) == state)  # type: ignore[misc]
        assert fleet.truth(NAME)["firmware"]["HGX_FW_FPGA_0"] == {"active": "2.11", "staged": None}


def test_power_lost_while_booting_happens_once() -> None:
    """The second power on boots."""
    with EmulatedFleet([Bmc(faults=("power-lost-while-booting",))]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        client.reset("On")
        wait_for(lambda: fleet.truth(NAME)["faults"]["power-lost-while-booting"]["happened"] == 1)
        wait_for(lambda: client.get(SYSTEM)["PowerState"] == "Off")
        client.reset("On")
        wait_for(lambda: fleet.truth(NAME)["phase"] == "no-bootable-device")


def test_boot_server_unreachable_for_a_while_and_an_agent_that_is_killed() -> None:
    """Both heal by themselves."""
    faults = ({"boot-server-unreachable": {"seconds": 0.3}}, {"agent-killed": {"seconds": 0.5}})
    with BootServer() as server, EmulatedFleet([Bmc(faults=faults)], boot_service=server.url) as fleet:
        server.offer("/boot/ipxe", build_root())
        BmcClient(fleet.bmcs[0]).reset("On")
        wait_for(lambda: len(server.hellos) == 2)
        truth = fleet.truth(NAME)
        assert truth["boots"] == 1
        assert truth["boot_failures"] >= 1


def test_unknown_fault_is_refused_with_the_nearest_name(fleet: EmulatedFleet) -> None:
    """By the admin API as by the file."""
    url = f"{fleet.admin_url}/bmcs/{NAME}/faults/slow-answer"
    for method, status in (("PUT", 400), ("DELETE", 404)):
        answer = requests.request(method, url, timeout=5)
        assert (answer.status_code, "did you mean 'slow-answers'?" in answer.text) == (status, True)


def test_a_fault_of_a_part_that_is_not_there_is_refused(fleet: EmulatedFleet) -> None:
    """It would do nothing, and the test would pass."""
    url = f"{fleet.admin_url}/bmcs/{NAME}/faults/gpu-missing"
    answer = requests.put(url, json={"index": 8}, timeout=5)
    assert (answer.status_code, "hgx-h100 has 8, numbered from 0" in answer.text) == (400, True)
