"""Logins that fail in ways that clients of real BMCs have met."""

import time
from collections.abc import Iterator

import pytest
import requests

from emulator.testing import EmulatedFleet
from tests.emulator.bmc_client import BmcClient

NAME = "r01-u01"
SYSTEM = "/redfish/v1/Systems/1"
SESSIONS = "/redfish/v1/SessionService/Sessions"
FAULTS = (
    "session-limit",
    "sessions-forgotten",
    "sessions-expire-early",
    "sessions-refused",
    "sessions-moved",
    "login-refuses-basic-header",
    "basic-refused",
    "account-locks-early",
    "reused-connection-reset",
)


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    with EmulatedFleet() as running:
        yield running


@pytest.fixture
def client(fleet: EmulatedFleet) -> Iterator[BmcClient]:
    """A client that has not logged in; all is healed afterwards."""
    fresh = BmcClient(fleet.bmcs[0])
    yield fresh
    for fault in FAULTS:
        fleet.clear_fault(NAME, fault)


def log_in(client: BmcClient, path: str = SESSIONS) -> requests.Response:
    body = {"UserName": client.bmc.username, "Password": client.bmc.password}
    client.http.auth = None
    return client.send("POST", path, json=body)


def use_token(client: BmcClient) -> None:
    client.http.headers["X-Auth-Token"] = log_in(client).headers["X-Auth-Token"]


@pytest.mark.parametrize("status", [503, 400])
def test_one_session_too_many_is_refused_in_two_ways(fleet: EmulatedFleet, client: BmcClient, status: int) -> None:
    """bb-Ricardo/check_redfish#89, quadsproject/badfish#447."""
    fleet.set_fault(NAME, "session-limit", {"status": status, "limit": fleet.truth(NAME)["sessions"] + 1})
    assert log_in(client).status_code == 201
    answer = log_in(client)
    assert answer.status_code == status
    assert answer.json()["error"]["code"].endswith("SessionLimitExceeded")


def test_tokens_are_lost_at_a_reset_of_the_bmc(fleet: EmulatedFleet, client: BmcClient) -> None:
    """openbmc/bmcweb#158: every server does that."""
    use_token(client)
    assert client.send("GET", SYSTEM).status_code == 200
    fleet.act(NAME, "power-loss")
    fleet.act(NAME, "power-restore")
    fresh = BmcClient(client.bmc)
    fresh.http.auth, fresh.http.headers = None, client.http.headers
    for _ in range(100):
        try:
            answer = fresh.send("GET", SYSTEM)
            break
        except requests.ConnectionError:
            continue
    assert answer.status_code == 401


def test_tokens_are_forgotten_without_a_reset_too(fleet: EmulatedFleet, client: BmcClient) -> None:
    """openbmc/bmcweb#158: log in once more, then go on."""
    use_token(client)
    fleet.set_fault(NAME, "sessions-forgotten")
    assert [client.send("GET", SYSTEM).status_code for _ in range(2)] == [401, 401]
    client.http.headers.pop("X-Auth-Token")
    use_token(client)
    assert client.send("GET", SYSTEM).status_code == 200


def test_sessions_expire_sooner_than_the_service_says(fleet: EmulatedFleet, client: BmcClient) -> None:
    """Linuxfabrik/lib#246."""
    use_token(client)
    fleet.set_fault(NAME, "sessions-expire-early", {"seconds": 0.3})
    for pause, status in ((0, 200), (0.1, 200), (0.5, 401)):
        time.sleep(pause)
        assert client.send("GET", SYSTEM).status_code == status


@pytest.mark.parametrize("status", [405, 401])
def test_where_no_session_can_be_made_basic_works(fleet: EmulatedFleet, client: BmcClient, status: int) -> None:
    """mrlhansen/idrac_exporter#132, v1k0d3n/proxmox-redfish#42."""
    fleet.set_fault(NAME, "sessions-refused", {"status": status})
    assert log_in(client).status_code == status
    assert BmcClient(client.bmc).send("GET", SYSTEM).status_code == 200


def test_where_basic_is_refused_tokens_work(fleet: EmulatedFleet, client: BmcClient) -> None:
    """yunionio/cloudpods#24911."""
    fleet.set_fault(NAME, "basic-refused")
    assert client.send("GET", SYSTEM).status_code == 401
    use_token(client)
    assert client.send("GET", SYSTEM).status_code == 200


def test_sessions_that_have_moved_are_found_by_the_root(fleet: EmulatedFleet, client: BmcClient) -> None:
    """openstack/sushy, release note use-sessions-url-from-root."""
    fleet.set_fault(NAME, "sessions-moved")
    path = client.get("/redfish/v1")["Links"]["Sessions"]["@odata.id"]
    assert path == "/redfish/v1/Sessions"
    assert log_in(client).status_code == 404
    answer = log_in(client, path)
    assert answer.status_code == 201
    assert answer.headers["Location"].startswith("/redfish/v1/Sessions/")
    client.http.headers["X-Auth-Token"] = answer.headers["X-Auth-Token"]
    assert client.get(answer.headers["Location"])["UserName"] == client.bmc.username
    assert client.send("DELETE", answer.headers["Location"]).status_code == 204


def test_a_login_that_has_an_authorization_header_is_refused(fleet: EmulatedFleet, client: BmcClient) -> None:
    """ansible-collections/community.general#5903."""
    fleet.set_fault(NAME, "login-refuses-basic-header")
    body = {"UserName": client.bmc.username, "Password": client.bmc.password}
    assert client.send("POST", SESSIONS, json=body).status_code == 415
    assert log_in(client).status_code == 201


def test_an_account_is_locked_after_few_wrong_passwords() -> None:
    """openbmc/openbmc#3650: the right password does not help then."""
    with EmulatedFleet(speed=0) as other:
        other.set_fault(NAME, "account-locks-early", {"failures": 2, "seconds": 1.0})
        bmc = other.bmcs[0]
        for password, status in (("wrong", 401), (bmc.password, 200), ("wrong", 401), ("wrong", 401)):
            one = BmcClient(bmc)
            one.http.auth = (bmc.username, password)
            assert one.send("GET", SYSTEM).status_code == status
        assert BmcClient(bmc).send("GET", SYSTEM).status_code == 401


def test_a_connection_that_is_used_again_is_reset(fleet: EmulatedFleet, client: BmcClient) -> None:
    """DMTF/libredfish#55: what was sent on it was not acted upon."""
    assert client.send("GET", SYSTEM).status_code == 200
    before = fleet.truth(NAME)["sessions"]
    fleet.set_fault(NAME, "reused-connection-reset", {"times": 1})
    with pytest.raises(requests.ConnectionError):
        log_in(client)
    assert fleet.truth(NAME)["sessions"] == before
    assert log_in(client).status_code == 201
