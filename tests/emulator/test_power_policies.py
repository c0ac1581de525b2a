"""Resets of every kind, and the OEM verbs that cut power; over HTTPS."""

import time
from collections.abc import Iterator

import pytest

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer, build_root

SYSTEM = "/redfish/v1/Systems/1"
NAME = "r01-u01"


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """A host that has booted and runs, with a clock at 60: a shutdown of 20 s takes a third of a second."""
    with BootServer() as server:
        server.offer("/boot/ipxe", build_root())
        with EmulatedFleet(boot_service=server.url, speed=60) as running:
            yield running


@pytest.fixture
def client(fleet: EmulatedFleet) -> BmcClient:
    """Its client, when the operating system runs."""
    fresh = BmcClient(fleet.bmcs[0])
    fresh.reset("On")
    wait_for(lambda: fleet.truth(NAME)["phase"] == "running")
    return fresh


def test_graceful_shutdown_takes_time_and_ends_the_system(fleet: EmulatedFleet, client: BmcClient) -> None:
    """DSP0268, ResetType: GracefulShutdown."""
    began = time.monotonic()
    assert client.reset("GracefulShutdown").status_code == 204
    assert client.get(SYSTEM)["PowerState"] == "On"
    wait_for(lambda: fleet.truth(NAME)["power"] == "Off")
    assert time.monotonic() - began > 0.3


@pytest.mark.parametrize("reset_type", ["GracefulShutdown", "GracefulRestart"])
def test_hung_system_ignores_what_is_graceful(reset_type: str, fleet: EmulatedFleet, client: BmcClient) -> None:
    """ironcore-dev/metal-operator#129: a host that hangs needs ForceOff."""
    fleet.set_fault(NAME, "shutdown-ignored", {"times": 1})
    resets = fleet.truth(NAME)["resets"]
    assert client.reset(reset_type).status_code == 204
    time.sleep(0.6)
    truth = fleet.truth(NAME)
    assert (truth["phase"], truth["resets"]) == ("running", resets)


def test_graceful_restart_waits_and_a_hard_one_does_not(fleet: EmulatedFleet, client: BmcClient) -> None:
    """dell/iDRAC-Redfish-Scripting#29."""
    assert client.reset("GracefulRestart").status_code == 204
    wait_for(lambda: fleet.truth(NAME)["phase"] == "shutting-down")
    wait_for(lambda: fleet.truth(NAME)["phase"] == "running")
    fleet.set_fault(NAME, "graceful-restart-is-hard", {"times": 1})
    assert client.reset("GracefulRestart").status_code == 204
    wait_for(lambda: fleet.truth(NAME)["phase"] == "post", seconds=0.3)


def test_nmi_restarts_a_running_system(fleet: EmulatedFleet, client: BmcClient) -> None:
    """DSP0268, ResetType: Nmi; the kernel panics and starts again."""
    resets = fleet.truth(NAME)["resets"]
    assert client.reset("Nmi").status_code == 204
    wait_for(lambda: fleet.truth(NAME)["resets"] == resets + 1)


def test_reset_is_ignored_or_told_late(fleet: EmulatedFleet, client: BmcClient) -> None:
    """xcat2/xcat-core#5410, openbmc/openbmc#804, ibm-openbmc/dev#3595, device-management-toolkit/console#1051."""
    fleet.set_fault(NAME, "reset-ignored", {"times": 1})
    assert client.reset("ForceOff").status_code == 204
    time.sleep(0.3)
    assert fleet.truth(NAME)["phase"] == "running"
    fleet.set_fault(NAME, "power-state-stale", {"seconds": 1.0})
    client.reset("ForceOff")
    wait_for(lambda: fleet.truth(NAME)["power"] == "Off")
    assert client.get(SYSTEM)["PowerState"] == "On"
    wait_for(lambda: client.get(SYSTEM)["PowerState"] == "Off")
    fleet.clear_fault(NAME, "power-state-stale")
    fleet.set_fault(NAME, "power-state-between", {"seconds": 1.0})
    client.reset("On")
    assert client.get(SYSTEM)["PowerState"] == "PoweringOn"
    wait_for(lambda: client.get(SYSTEM)["PowerState"] == "On")
    fleet.clear_fault(NAME, "power-state-between")
    fleet.set_fault(NAME, "system-empty-in-transition", {"seconds": 1.0})
    client.reset("ForceOff")
    answer = client.send("GET", SYSTEM)
    assert (answer.status_code, answer.content) == (200, b"")
    wait_for(lambda: client.send("GET", SYSTEM).content)
    fleet.clear_fault(NAME, "system-empty-in-transition")


def test_graceful_restart_is_not_offered(fleet: EmulatedFleet, client: BmcClient) -> None:
    """DMTF/Redfish-Tacklebox#82."""
    action = client.get(SYSTEM)["Actions"]["#ComputerSystem.Reset"]
    info = client.get(action["@Redfish.ActionInfo"])["Parameters"][0]
    assert info["AllowableValues"] == action["ResetType@Redfish.AllowableValues"]
    fleet.set_fault(NAME, "graceful-restart-not-offered")
    action = client.get(SYSTEM)["Actions"]["#ComputerSystem.Reset"]
    assert "GracefulRestart" not in action["ResetType@Redfish.AllowableValues"]
    assert "GracefulRestart" not in client.get(action["@Redfish.ActionInfo"])["Parameters"][0]["AllowableValues"]
    assert client.reset("GracefulRestart").status_code == 400
    fleet.clear_fault(NAME, "graceful-restart-not-offered")


def test_ac_cycle_takes_host_and_bmc_and_brings_both_back() -> None:
    """Supermicro's ACCycle; DellOemChassis.ExtendedReset."""
    with EmulatedFleet([Bmc(power="On"), Bmc("dell-xe9680")]) as fleet:
        for bmc, path, body, on in (
            (fleet.bmcs[0], SYSTEM, {"ResetType": "ACCycle"}, True),
            (
                fleet.bmcs[1],
                "/redfish/v1/Chassis/System.Embedded.1",
                {"ResetType": "PowerCycle", "FinalPowerState": "On"},
                False,
            ),
        ):
            client = BmcClient(bmc)
            verb = next(iter(client.get(path)["Actions"]["Oem"].values()))
            assert client.send("POST", verb["target"], json={"ResetType": "Sideways"}).status_code == 400
            assert client.send("POST", verb["target"], json=body).status_code == 204
            wait_for(lambda name=bmc.name: fleet.truth(name)["bmc_resets"] == 1)  # type: ignore[misc]
            if on:
                wait_for(lambda name=bmc.name: fleet.truth(name)["power"] == "On")  # type: ignore[misc]


def test_aux_cycle_is_refused_while_the_tray_is_on() -> None:
    """NVIDIA's AuxPowerCycle: only while the chassis is off."""
    with EmulatedFleet([Bmc("gb200-compute-tray", power="On")]) as fleet:
        client = BmcClient(fleet.bmcs[0])
        client.send("PATCH", "/redfish/v1/AccountService/Accounts/root", json={"Password": "Changed-once-1"})
        client.http.auth = ("root", "Changed-once-1")
        target = client.get("/redfish/v1/Chassis/BMC_0")["Actions"]["Oem"]["#NvidiaChassis.AuxPowerReset"]["target"]
        body = {"ResetType": "AuxPowerCycle"}
        assert client.send("POST", target, json=body).status_code == 409
        client.reset("ForceOff")
        wait_for(lambda: fleet.truth(NAME)["power"] == "Off")
        assert client.send("POST", target, json=body).status_code == 204
        wait_for(lambda: fleet.truth(NAME)["bmc_resets"] == 1)
        assert fleet.truth(NAME)["power"] == "Off"
