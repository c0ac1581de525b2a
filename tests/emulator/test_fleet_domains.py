"""What machines of a fleet share, and the admin API that pulls its plugs."""

import pytest
import requests
import yaml

from emulator.racks import Plan
from emulator.testing import EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for


def test_power_that_a_rack_loses_is_lost_by_all_in_it_and_by_nobody_else() -> None:
    """A PDU behind which a whole rack stands."""
    with EmulatedFleet(plan=Plan(2, 2, ("hgx-h100",))) as fleet:
        assert fleet.act_on_domain("power", "r01", "power-loss") == ["r01-u01", "r01-u02"]
        assert _answering(fleet) == ["r02-u01", "r02-u02"]
        with pytest.raises(requests.ConnectionError):
            BmcClient(fleet.bmcs[0]).get("/redfish/v1")
        assert BmcClient(fleet.bmcs[2]).get("/redfish/v1")["RedfishVersion"]
        fleet.act_on_domain("rack", "r01", "power-restore")
        wait_for(lambda: len(_answering(fleet)) == 4)
        resets = [fleet.truth(bmc.name)["bmc_resets"] for bmc in fleet.bmcs]
        assert resets == [1, 1, 0, 0]


def test_a_server_runs_on_one_feed_and_not_on_none() -> None:
    """Two feeds to each rack: the loss of one is what the second is for."""
    with EmulatedFleet(plan=Plan(1, 2, ("hgx-h100",))) as fleet:
        fleet.act_on_domain("feed", "r01-a", "power-loss")
        assert fleet.truth("r01-u01")["feeds"] == {"a": False, "b": True}
        assert len(_answering(fleet)) == 2
        assert _inputs(BmcClient(fleet.bmcs[0])) == ["LossOfInput", "Normal"] * 3
        fleet.act_on_domain("feed", "r01-b", "power-loss")
        assert _answering(fleet) == []
        fleet.act_on_domain("feed", "r01-a", "power-restore")
        wait_for(lambda: len(_answering(fleet)) == 2)
        assert fleet.truth("r01-u01")["feeds"] == {"a": True, "b": False}
        client = BmcClient(fleet.bmcs[0])
        assert _inputs(client) == ["Normal", "LossOfInput"] * 3
        fleet.act_on_domain("feed", "r01-b", "power-restore")
        assert _inputs(client) == ["Normal"] * 6


def test_a_lost_feed_is_seen_in_every_place_that_shows_power() -> None:
    """DSP2046: LineInputStatus of a PowerSupply, redundancy, the old Power resource, HealthRollup of the box."""
    with EmulatedFleet(plan=Plan(1, 1, ("hgx-h100",))) as fleet:
        client = BmcClient(fleet.bmcs[0])
        chassis = client.get("/redfish/v1/Chassis")["Members"][0]["@odata.id"]
        before = client.get(chassis)["Status"]["HealthRollup"]
        fleet.act_on_domain("feed", "r01-a", "power-loss")
        power = client.get(f"{chassis}/Power")
        assert [supply["Status"]["Health"] for supply in power["PowerSupplies"]] == ["Critical", "OK"] * 3
        assert power["PowerSupplies"][0]["PowerOutputWatts"] == 0
        assert power["Redundancy"][0]["Status"]["Health"] == "Warning"
        subsystem = client.get(f"{chassis}/PowerSubsystem")
        assert subsystem["PowerSupplyRedundancy"][0]["Status"]["Health"] == "Warning"
        assert (before, client.get(chassis)["Status"]["HealthRollup"]) == ("OK", "Warning")
        fleet.set_fault("r01-u01", "fan-failed")
        assert client.get(chassis)["Status"]["HealthRollup"] == "Warning"
        fleet.act_on_domain("power", "r01", "power-restore")
        fleet.act_on_domain("feed", "r01-a", "power-restore")
        fleet.clear_fault("r01-u01", "fan-failed")
        assert client.get(chassis)["Status"]["HealthRollup"] == "OK"


def test_the_admin_api_says_what_there_is_and_what_there_is_not() -> None:
    """GET / lists the endpoints; every refusal says what would do."""
    with EmulatedFleet(plan=Plan(1, 2, ("hgx-h100",))) as fleet:
        endpoints = requests.get(fleet.admin_url + "/", timeout=5).json()["endpoints"]
        paths = {(one["method"], one["path"]) for one in endpoints}
        assert ("POST", "/domains/{kind}/{name}/actions/{action}") in paths
        assert all(one["does"] for one in endpoints)
        assert requests.get(fleet.admin_url + "/bmcs?fields=name,power", timeout=5).json()[0] == {
            "name": "r01-u01",
            "power": "Off",
        }
        expected = yaml.safe_load(fleet.expected_path.read_text())
        assert requests.get(fleet.admin_url + "/fleet/expected", timeout=5).json() == expected
        faults = requests.get(fleet.admin_url + "/faults", timeout=5).json()
        assert {"silent", "wrong-slot"} <= {fault["name"] for fault in faults}
        for method, path, status, reason in (
            ("GET", "/bmcs/r09-u01", 404, "no BMC is named r09-u01"),
            ("GET", "/bmcs?fields=pwer", 400, "unknown field 'pwer'"),
            ("GET", "/nothing", 404, "GET / lists what there is"),
            ("POST", "/bmcs/r01-u01/actions/kick", 404, "known actions: power-loss"),
            ("POST", "/domains/power/r01/actions/kick", 404, "known actions: power-loss"),
            ("POST", "/domains/row/r01/actions/power-loss", 404, "known kinds of domains: rack, power, feed, nvlink"),
            ("POST", "/domains/power/r07/actions/power-loss", 404, "no power domain is named r07"),
            ("DELETE", "/bmcs", 405, "Method Not Allowed"),
        ):
            refusal = requests.request(method, fleet.admin_url + path, timeout=5)
            assert (refusal.status_code, reason in refusal.json()["error"]) == (status, True), refusal.text


def _inputs(client: BmcClient) -> list[str]:
    chassis = client.get("/redfish/v1/Chassis")["Members"][0]["@odata.id"]
    supplies = client.get(f"{chassis}/PowerSubsystem/PowerSupplies")["Members"]
    return [client.get(supply["@odata.id"])["LineInputStatus"] for supply in supplies]


def _answering(fleet: EmulatedFleet) -> list[str]:
    truths = requests.get(fleet.admin_url + "/bmcs?fields=name,bmc_answers", timeout=5).json()
    return [truth["name"] for truth in truths if truth["bmc_answers"]]
