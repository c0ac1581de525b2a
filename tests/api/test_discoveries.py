"""What looking around has found, over HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

from provisioner.models.found_bmc import How, Scan, Sighting
from provisioner.models.found_host import FoundHost, HostHow, Lease
from provisioner.models.identifiers import NodeName
from provisioner.models.inventory import Identity
from provisioner.models.lifecycle import State
from provisioner.models.node import BmcAddress
from tests.api.site import N1, Site
from tests.api.test_health import samples

N2 = NodeName("r01-u02")
"""At 127.20.1.2:8443."""


def scanned(site: Site, *found: tuple[str, str]) -> None:
    """A scan of the first rack has found these (address, UUID)."""
    at = datetime.now(UTC)
    scan = Scan(at, at, at + timedelta(minutes=15), ("127.20.1.0/24",), 8443)
    seen = [
        Sighting(BmcAddress(address, 8443), Identity("", uuid, "Example", "One"), How.SCAN) for address, uuid in found
    ]
    site.run(site.store.found_bmcs.record(scan, seen))


def test_before_the_first_scan_nothing_is_known(site: Site) -> None:
    told = site.get("/v1/discoveries?expected=true").json()
    assert told == {
        "scanned_at": None,
        "next_scan_at": None,
        "ranges": [],
        "expected_count": 0,
        "expected": [],
        "unexpected": [],
        "missing": [],
        "hosts": [],
    }
    assert samples(site)["firstlight_bmcs_unexpected", ()] == 0


def test_expected_ones_are_listed_when_asked_for(site: Site) -> None:
    scanned(site, ("127.20.1.1", "AA"), ("127.20.1.9", "BB"))
    brief, whole = site.get("/v1/discoveries").json(), site.get("/v1/discoveries?expected=true").json()
    assert (brief["expected_count"], brief["expected"], brief["ranges"]) == (1, None, ["127.20.1.0/24"])
    assert [(one["node"], one["uuid"]) for one in whole["expected"]] == [(N1, "aa")]
    assert [(one["address"], one["uuid"]) for one in whole["unexpected"]] == [("127.20.1.9", "bb")]
    assert [one["node"] for one in whole["missing"]] == [N2]
    found = samples(site)
    assert (found["firstlight_bmcs_unexpected", ()], found["firstlight_bmcs_missing", ()]) == (1, 1)


def test_a_server_in_another_place_is_named(site: Site) -> None:
    """By the UUID that the node has said itself, whatever its spelling."""
    site.run(site.store.nodes.identify(N2, Identity("S2", "4C4C-22", "Example", "One")))
    scanned(site, ("127.20.1.1", "AA"), ("127.20.1.9", "4c4c-22"))
    told = site.get("/v1/discoveries").json()
    assert told["unexpected"][0]["same_uuid"] == [N2]
    assert (
        "it says the UUID of r01-u02, which is expected at 127.20.1.2:8443"
        in told["unexpected"][0]["instruction"]["what"]
    )
    assert told["missing"][0]["elsewhere"] == ["127.20.1.9:8443"]
    assert site.node(N2).bmc == BmcAddress("127.20.1.2", 8443)


@pytest.mark.parametrize("state", [State.UPDATING_FIRMWARE, State.DECOMMISSIONED])
def test_nobody_is_sent_to_a_server_that_may_be_silent(site: Site, state: State) -> None:
    """Its BMC restarts within our own update, or it has gone."""
    site.move(state, N2)
    scanned(site, ("127.20.1.1", "AA"))
    assert site.get("/v1/discoveries").json()["missing"] == []


def test_hosts_that_are_no_nodes_are_listed_before_any_scan(site: Site) -> None:
    """By lease or by what they ask; a card of a node is nobody's surprise."""
    at = datetime.now(UTC)
    lease = Lease("02:00:00:00:00:01", "10.0.0.50", at, at + timedelta(hours=1), "PXEClient:Arch:00007")
    site.run(site.store.hosts.take_leases([lease]))
    asked = FoundHost("02:00:00:00:00:02", "10.0.0.9", "x86_64", "uu-2", "S1-1", HostHow.BOOT, at, at)
    site.run(site.store.nodes.identify(N2, Identity("S2", "UU-2", "Example", "One")))
    site.run(site.store.hosts.note(asked))
    told = site.get("/v1/discoveries").json()
    assert told["scanned_at"] is None
    (host,) = told["hosts"]
    assert (host["mac"], host["address"], host["how"]) == ("02:00:00:00:00:01", "10.0.0.50", "dhcp")
    assert host["instruction"]["owner"] == "operator"
    assert host["instruction"]["where"] == "MAC 02:00:00:00:00:01, address 10.0.0.50, class PXEClient:Arch:00007"
