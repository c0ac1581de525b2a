"""Faults that a share of a fleet has."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.config import FaultRate, FleetConfig
from emulator.fault_rates import hit, with_fault_rates
from emulator.fleet import Settings, fleet_of, invent
from emulator.racks import Plan
from emulator.testing import EmulatedFleet
from tests.emulator.bmc_client import BmcClient
from tests.emulator.test_fleet import fleet_command

RATES = (FaultRate(fault="wrong-slot", share=0.5), FaultRate(fault="gpu-missing", share=0.25, arguments={"index": 3}))


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """Eight BMCs; four of them in a wrong slot, two without a GPU."""
    with EmulatedFleet(plan=Plan(2, 4, ("hgx-h100", "dell-xe9680")), fault_rates=RATES) as running:
        yield running


def planned(rates: tuple[FaultRate, ...], seed: int = 1) -> FleetConfig:
    return fleet_of(invent(Plan(20, 5, ("hgx-h100",))), Settings(seed=seed, fault_rates=rates))


@given(st.integers(0, 300), st.floats(0, 1), st.floats(0, 1), st.integers())
@settings(deadline=None)
def test_who_is_hit_at_a_share_is_hit_at_every_greater_one(count: int, one: float, other: float, seed: int) -> None:
    """Documented in fault_rates.py, with the count: the nearest whole number, halves up."""
    names = [f"n{number}" for number in range(count)]
    fewer, more = (hit(names, FaultRate(fault="silent", share=share), seed) for share in sorted((one, other)))
    assert fewer <= more <= set(names)
    assert abs(len(fewer) - count * min(one, other)) <= 0.5


def test_half_a_bmc_is_one() -> None:
    """Halves are rounded up, less than half is nobody."""
    assert len(hit(map(str, range(10)), FaultRate(fault="silent", share=0.05), 1)) == 1
    assert len(hit(map(str, range(10)), FaultRate(fault="silent", share=0.049), 1)) == 0


def test_another_seed_hits_others() -> None:
    """The same seed: the same ones."""
    rates = (FaultRate(fault="silent", share=0.1),)
    faulty = [
        {entry.name for entry in with_fault_rates(planned(rates, seed)).bmcs if entry.faults} for seed in (1, 1, 2)
    ]
    assert [len(names) for names in faulty] == [10, 10, 10]
    assert faulty[0] == faulty[1] != faulty[2]


def test_wrong_slots_are_pairs_of_neighbours_and_everything_else_is_in_its_place() -> None:
    """oxidecomputer/omicron#8130: two units swapped. 6 % of 100 is three pairs; the odd tray of a rack is in none."""
    before = planned((FaultRate(fault="wrong-slot", share=0.06),))
    after = with_fault_rates(before)
    by_name = {entry.name: entry for entry in before.bmcs}
    moved = {entry.name: entry for entry in after.bmcs if entry.meant_for}
    assert len(moved) == 6
    for name, entry in moved.items():
        other = by_name[entry.meant_for]
        assert (entry.serial, entry.uuid) == (other.serial, other.uuid)
        assert (entry.address, entry.rack) == (by_name[name].address, other.rack)
        assert abs(entry.position - other.position) == 1
        assert moved[entry.meant_for].meant_for == name
    assert [entry for entry in after.bmcs if not entry.meant_for] == [
        entry for entry in before.bmcs if entry.name not in moved
    ]


def test_a_machine_in_a_wrong_slot_has_the_serial_and_the_label_of_another(fleet: EmulatedFleet) -> None:
    """The rack plan says one thing at this address, the machine another; the truth names where it belongs."""
    plan = {node["name"]: node for node in yaml.safe_load(fleet.expected_path.read_text())["nodes"]}
    swapped = 0
    for bmc in fleet.bmcs:
        meant_for = fleet.truth(bmc.name)["place"]["meant_for"]
        swapped += bool(meant_for)
        owner = plan[meant_for or bmc.name]
        client = BmcClient(bmc)
        client.http.auth = (owner["factory_username"], owner["factory_password"])
        system = client.get("/redfish/v1/Systems")["Members"][0]["@odata.id"]
        assert client.get(system)["SerialNumber"] == owner["serial"]
    assert swapped == 4
    assert fleet.summary()["wrong_slots"] == 4


def test_a_share_of_the_fleet_has_the_fault_with_its_arguments(fleet: EmulatedFleet) -> None:
    """A quarter of eight."""
    faults = [fleet.truth(bmc.name)["faults"] for bmc in fleet.bmcs]
    assert [fault["gpu-missing"]["index"] for fault in faults if fault] == [3, 3]


def test_a_running_fleet_gets_a_fault_and_is_healed_of_it(fleet: EmulatedFleet) -> None:
    """PUT /fleet/faults/{fault} with a share or names."""
    names = fleet.set_fault_rate("slow-answers", 0.5, {"seconds": 0.1})
    assert len(names) == 4
    assert fleet.summary()["faults"]["slow-answers"] == 4
    url = fleet.admin_url + "/fleet/faults/"
    assert requests.delete(url + "slow-answers", timeout=5).json()["names"] == names
    assert "slow-answers" not in fleet.summary()["faults"]
    one = requests.put(url + "html-answers", json={"names": ["r02-u04"], "arguments": {"times": 1}}, timeout=5)
    assert one.json() == {"fault": "html-answers", "names": ["r02-u04"]}
    assert fleet.truth("r02-u04")["faults"]["html-answers"]["times"] == 1


@pytest.mark.parametrize(
    ("fault", "body", "status", "reason"),
    [
        ("silnt", {"share": 0.1}, 400, "did you mean 'silent'?"),
        ("silent", {"share": 2}, 400, "less than or equal to 1"),
        ("silent", {"share": "all"}, 400, "valid number"),
        ("silent", {}, 400, '"share": 0 to 1'),
        ("silent", {"share": 0.1, "names": ["r01-u01"]}, 400, '"share": 0 to 1'),
        ("silent", {"names": ["r09-u09"]}, 404, "no BMC is named r09-u09"),
        ("silent", {"names": "r01-u01"}, 400, "give a list of names"),
        ("silent", {"names": ["r01-u01"], "arguments": {"pth": 1}}, 400, "did you mean 'path'?"),
        ("silent", {"share": 0.1, "arguments": "x"}, 400, "arguments"),
        ("wrong-slot", {"share": 0.1}, 409, "fault_rates in fleet.yaml"),
        ("silent", [], 400, "not a JSON object"),
    ],
)
def test_a_fault_for_many_that_cannot_be_is_refused(
    fleet: EmulatedFleet, fault: str, body: Any, status: int, reason: str
) -> None:
    """Nobody gets it."""
    answer = requests.put(f"{fleet.admin_url}/fleet/faults/{fault}", json=body, timeout=5)
    assert (answer.status_code, reason in answer.json()["error"]) == (status, True), answer.text
    assert "silent" not in fleet.summary()["faults"]


def test_rates_of_the_command_line_are_in_the_fleet_file(tmp_path: Path) -> None:
    """A share in per cent or as a number, arguments as with --fault."""
    options = ("--fault-rate", "wrong-slot=50%", "--fault-rate", "slow-answers:seconds=3,path=/redfish=0.1")
    assert fleet_command("--out", str(tmp_path), "--seed", "7", *options).returncode == 0
    written = yaml.safe_load((tmp_path / "fleet.yaml").read_text())
    assert written["seed"] == 7
    assert written["fault_rates"] == [
        {"fault": "wrong-slot", "share": 0.5, "arguments": {}},
        {"fault": "slow-answers", "share": 0.1, "arguments": {"seconds": 3, "path": "/redfish"}},
    ]
