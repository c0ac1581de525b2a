"""Accounts, sessions and the protocol, over HTTPS."""

import ssl

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.conftest import Museum

SESSIONS = "/redfish/v1/SessionService/Sessions"


def test_root_needs_no_credentials_and_the_rest_does(museum: Museum) -> None:
    """DSP0266, authentication."""
    client = BmcClient(museum["hgx-h100"])
    client.http.auth = None
    assert client.send("GET", "/redfish").json() == {"v1": "/redfish/v1/"}
    assert client.send("GET", "/redfish/v1/").status_code == 200
    assert client.send("GET", "/redfish/v1/Systems").status_code == 401
    assert client.send("GET", "/redfish/v1/Nowhere").status_code == 401


def test_wrong_requests_get_redfish_errors(museum: Museum) -> None:
    """DSP0266: 404, 405 with Allow, 400; never a 500."""
    client = BmcClient(museum["hgx-h100"])
    missing = client.send("GET", "/redfish/v1/Systems/2")
    assert missing.json()["error"]["code"].endswith("ResourceMissingAtURI")
    for path in ("/redfish/v1/Nowhere", "/redfish/v1/Chassis/9", "/redfish/v1/Systems/1/Fans", "/"):
        assert client.send("GET", path).status_code == 404, path
    wrong = client.send("DELETE", "/redfish/v1/Systems/1")
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "GET, HEAD, PATCH")
    assert client.send("PATCH", "/redfish/v1/Systems/1", data=b"{").status_code == 400
    assert client.send("PATCH", "/redfish/v1/Systems/1", json=[]).status_code == 400


def test_session_opens_works_and_closes(client: BmcClient) -> None:
    """DSP0266, session login."""
    bmc, client.http.auth = client.bmc, None
    answer = client.send("POST", SESSIONS, json={"UserName": bmc.username, "Password": bmc.password})
    assert answer.status_code == 201
    token = {"X-Auth-Token": answer.headers["X-Auth-Token"]}
    assert client.send("GET", "/redfish/v1/Systems", headers=token).status_code == 200
    assert client.send("DELETE", answer.headers["Location"], headers=token).status_code == 204
    assert client.send("GET", "/redfish/v1/Systems", headers=token).status_code == 401


def test_sessions_are_few(client: BmcClient) -> None:
    """bb-Ricardo/check_redfish#89."""
    login = {"UserName": client.bmc.username, "Password": client.bmc.password}
    statuses = [client.send("POST", SESSIONS, json=login).status_code for _ in range(17)]
    assert statuses == [201] * 16 + [503]


def test_three_wrong_passwords_lock_the_account_for_a_while() -> None:
    """openbmc/openbmc#3650; 30 emulated seconds at speed 6."""
    with EmulatedFleet(speed=6) as fleet:
        client = BmcClient(fleet.bmcs[0])
        client.http.auth = ("ADMIN", "wrong")
        for _ in range(3):
            client.send("GET", "/redfish/v1/Systems")
        client.http.auth = ("ADMIN", client.bmc.password)
        assert client.send("GET", "/redfish/v1/Systems").status_code == 401
        assert fleet.truth("r01-u01")["locked"] is True
        wait_for(lambda: client.send("GET", "/redfish/v1/Systems").status_code == 200)
        assert fleet.truth("r01-u01")["failed_logins"] >= 4


def test_factory_password_of_openbmc_must_be_changed_first() -> None:
    """DSP0266, password change required."""
    with EmulatedFleet([Bmc("gb200-compute-tray")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        login = {"UserName": "root", "Password": "0penBmc"}
        message = client.send("POST", SESSIONS, json=login).json()["@Message.ExtendedInfo"][0]
        assert message["MessageId"].endswith("PasswordChangeRequired")
        refused = client.send("GET", "/redfish/v1/Systems")
        assert (refused.status_code, "PasswordChangeRequired" in refused.text) == (403, True)
        account = message["MessageArgs"][0]
        assert client.send("PATCH", account, json={"Password": "short"}).status_code == 400
        assert client.send("PATCH", account, json={"Password": "Long-enough-1"}).status_code == 200
        client.http.auth = ("root", "Long-enough-1")
        assert client.get("/redfish/v1/Systems")["Members@odata.count"] == 2
        assert fleet.truth("r01-u01")["credentials"]["password"] == "Long-enough-1"


def test_if_match_is_checked(museum: Museum) -> None:
    """DSP0266, ETags."""
    client = BmcClient(museum["hgx-h100"])
    path = "/redfish/v1/Systems/1"
    etag = client.send("GET", path).headers["ETag"]
    boot = {"Boot": {"BootSourceOverrideEnabled": "Disabled"}}
    assert client.send("PATCH", path, json=boot, headers={"If-Match": '"other"'}).status_code == 412
    assert client.send("PATCH", path, json=boot, headers={"If-Match": etag}).status_code == 204


def test_wrong_password_counts_once_for_an_answer_that_is_kept() -> None:
    """A lock-out comes after as many wrong passwords as the policy says, however the BMC finds its answers."""
    with EmulatedFleet() as fleet:
        client, path = BmcClient(fleet.bmcs[0]), "/redfish/v1/Systems/1"
        for _ in range(2):  # the second answer is a kept one
            client.get(path)
        assert client.send("GET", path, auth=(fleet.bmcs[0].username, "Wrong-1-wrong")).status_code == 401
        assert fleet.truth("r01-u01")["failed_logins"] == 1


def test_certificate_stays_the_same_after_a_restart() -> None:
    """A client may pin it."""
    with EmulatedFleet() as fleet:
        bmc = fleet.bmcs[0]
        first = ssl.get_server_certificate((bmc.address, bmc.port))
        fleet.stop()
        fleet.start()
        assert ssl.get_server_certificate((bmc.address, bmc.port)) == first


def test_reset_of_the_bmc_takes_a_while() -> None:
    """180 emulated seconds at speed 180."""
    with EmulatedFleet(speed=180) as fleet:
        client = BmcClient(fleet.bmcs[0])
        path = "/redfish/v1/Managers/1/Actions/Manager.Reset"
        assert client.send("POST", path, json={"ResetType": "GracefulRestart"}).status_code == 204
        wait_for(lambda: fleet.truth("r01-u01")["bmc_resets"] == 1)
        wait_for(lambda: fleet.truth("r01-u01")["bmc_answers"])
        assert BmcClient(fleet.bmcs[0]).get("/redfish/v1/Managers/1")["FirmwareVersion"] == "11.01.01"
