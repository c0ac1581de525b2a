"""The rack plan of an invented fleet: for the product, and as NetBox has it."""

import csv
import json
from pathlib import Path

import pytest
import yaml

from emulator.config import BmcEntry
from tests.emulator.test_fleet import all_macs, fleet_command


@pytest.fixture(scope="module")
def two_racks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fleet")
    personas = "hgx-h100,gb200-compute-tray"
    assert fleet_command("--racks", "2", "--trays", "3", "--persona", personas, "--out", str(folder)).returncode == 0
    return folder


def test_the_rack_plan_does_not_know_how_the_emulator_is_run(two_racks: Path) -> None:
    """The product reads expected.yaml: its fields are a contract."""
    nodes = yaml.safe_load((two_racks / "expected.yaml").read_text())["nodes"]
    fields = "name rack position bmc_address bmc_port serial factory_username factory_password"
    assert [*nodes[0]] == fields.split()
    entries = yaml.safe_load((two_racks / "fleet.yaml").read_text())["bmcs"]
    assert {entry["power_domain"] for entry in entries} == {"r01", "r02"}


def test_netbox_lists_the_devices_of_the_rack_plan(two_racks: Path) -> None:
    """NetBox v4.2, dcim/api/serializers_/devices.py: names of fields, nested objects, choices as value and label."""
    pages = json.loads((two_racks / "expected.netbox.json").read_text())
    devices = pages["/api/dcim/devices/"]
    assert (devices["count"], devices["next"], len(devices["results"])) == (6, None, 6)
    nodes = {node["name"]: node for node in yaml.safe_load((two_racks / "expected.yaml").read_text())["nodes"]}
    for device in devices["results"]:
        node = nodes[device["name"]]
        assert device["serial"] == node["serial"]
        assert (device["rack"]["name"], device["position"]) == (node["rack"], node["position"])
        assert device["oob_ip"]["address"] == f"{node['bmc_address']}/8"
        assert device["face"] == {"value": "front", "label": "Front"}
    kinds = {device["device_type"]["manufacturer"]["name"] for device in devices["results"]}
    assert len(kinds) == 2
    assert "0penBmc" not in (two_racks / "expected.netbox.json").read_text()


def test_netbox_knows_the_mac_address_that_the_bmc_shows(two_racks: Path) -> None:
    """Addresses are assigned to the interface of the BMC, whose MAC address is the one that it has itself."""
    pages = json.loads((two_racks / "expected.netbox.json").read_text())
    interfaces = {one["id"]: one for one in pages["/api/dcim/interfaces/"]["results"]}
    entries = [BmcEntry.model_validate(one) for one in yaml.safe_load((two_racks / "fleet.yaml").read_text())["bmcs"]]
    assert [one["mac_address"] for one in interfaces.values()] == all_macs(entries)
    for address in pages["/api/ipam/ip-addresses/"]["results"]:
        interface = interfaces[address["assigned_object_id"]]
        assert address["assigned_object_type"] == "dcim.interface"
        assert address["assigned_object"]["device"]["name"] == interface["device"]["name"]
        assert (interface["name"], interface["mgmt_only"]) == ("bmc", True)


def test_netbox_takes_the_files_in_their_order(two_racks: Path) -> None:
    """NetBox v4.2, dcim/forms/bulk_import.py: what a row names must be there already."""
    files = sorted((two_racks / "netbox").iterdir())
    assert [path.name[2:-4] for path in files] == [
        "sites",
        "manufacturers",
        "device-types",
        "device-roles",
        "racks",
        "devices",
        "interfaces",
        "mac-addresses",
        "ip-addresses",
    ]
    tables = {path.name[2:-4]: list(csv.DictReader(path.open(encoding="utf-8", newline=""))) for path in files}
    known = {
        name: {row["name"] for row in tables[name]} for name in ("sites", "manufacturers", "device-roles", "racks")
    }
    models = {row["model"] for row in tables["device-types"]}
    for device in tables["devices"]:
        assert device["site"] in known["sites"]
        assert device["manufacturer"] in known["manufacturers"]
        assert device["role"] in known["device-roles"]
        assert device["rack"] in known["racks"]
        assert device["device_type"] in models
    ports = {(row["device"], row["name"]) for row in tables["interfaces"]}
    assert {(row["device"], row["interface"]) for row in tables["mac-addresses"]} == ports
    assert {(row["device"], row["interface"]) for row in tables["ip-addresses"]} <= ports
