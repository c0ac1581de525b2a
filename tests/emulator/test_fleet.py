"""Invented fleets: where ten thousand BMCs answer, and what cannot be."""

import re
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import requests

from emulator.config import BmcEntry, load_fleet
from emulator.errors import ConfigError
from emulator.fleet import invent
from emulator.persona.load import load_persona
from emulator.racks import NVL72, Plan, slots_of
from emulator.testing import EmulatedFleet, RunningBmc
from tests.emulator.bmc_client import BmcClient

ROOT = Path(__file__).parents[2]


def fleet_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "emulator", "fleet", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)


def test_small_fleets_have_addresses_that_say_rack_and_tray() -> None:
    """FLEETS.md: 127.20.rack.tray, as long as there are fewer than 256 racks."""
    entries = invent(Plan(255, 2, ("hgx-h100",)))
    assert entries[0].address == "127.20.1.1"
    assert entries[-1].address == "127.20.255.2"
    assert (entries[0].name, entries[0].rack) == ("r001-u01", "r001")
    assert invent(Plan(2, 1, ("hgx-h100",)))[1].name == "r02-u01"


def test_ten_thousand_bmcs_have_an_address_a_serial_number_and_macs_each() -> None:
    """Rack 256 answers in the next network; two ports with one MAC address would be a fault that nobody asked for."""
    entries = invent(Plan(1250, 8, ("hgx-h100",)))
    for field in ("name", "address", "serial", "uuid"):
        assert len({getattr(entry, field) for entry in entries}) == 10_000
    assert entries[255 * 8].address == "127.21.0.1"
    assert entries[-1].address == "127.24.226.8"
    assert len(all_macs(entries)) == len(set(all_macs(entries)))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--racks", "70000"), "--racks 70000: only 60415 racks from --network 127.20 on fit into 127.0.0.0/8"),
        (("--trays", "255"), "--trays 255: a rack has room for 254 at most; take more racks"),
        (("--network", "10.0"), "--network 10.0: give the first two numbers of the addresses, 127.1 to 127.255"),
        (("--network", "127.0"), "127.1 to 127.255"),
        (("--layout", "nvl27"), "--layout nvl27: known layouts: plain, nvl72"),
        (("--persona", "hgx-h10"), "--persona: unknown persona 'hgx-h10'; did you mean 'hgx-h100'?"),
        (("--port", "8444"), "admin_port: 8444 is the port of the BMCs already"),
        (("--fault-rate", "silnt=1%"), "--fault-rate silnt=1%: unknown fault 'silnt'; did you mean 'silent'?"),
        (("--fault-rate", "silent=101%"), "--fault-rate silent=101%: Input should be less than or equal to 1; a share"),
        (("--fault-rate", "silent=-0.1"), "a share is 0 to 1, or 0% to 100%"),
        (("--fault-rate", "silent=some"), "--fault-rate silent=some: give FAULT=SHARE, such as silent=2%"),
        (("--fault-rate", "silent"), "--fault-rate silent: give FAULT=SHARE"),
        (("--fault-rate", "silent:pth=/redfish=1%"), "unknown argument 'pth'; did you mean 'path'?"),
        (("--fault-rate", "wrong-slot:times=1=1%"), "wrong-slot takes no arguments"),
        (("--fault-rate", "wrong-slot=1", "--trays", "3"), "only 1 pairs of neighbours"),
    ],
)
def test_a_fleet_that_cannot_be_is_refused_with_what_would_do(
    tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    """Issue 3, bad input: a clear message, exit 2, nothing written."""
    result = fleet_command("--out", str(tmp_path / "fleet"), *arguments)
    assert result.returncode == 2
    assert expected in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "fleet").exists()


def test_neither_files_nor_serving_is_no_work() -> None:
    """`fleet` without --out and --serve would do nothing at all."""
    result = fleet_command("--racks", "1")
    assert (result.returncode, "--out FOLDER" in result.stderr) == (2, True)


def test_an_nvl72_rack_is_one_nvlink_domain() -> None:
    """NVIDIA GB200 NVL72: 18 compute trays and 9 NVLink switch trays in one NVLink domain."""
    slots = list(slots_of(Plan(2, 8, ("hgx-h100",), layout="nvl72")))
    assert len(slots) == 2 * 27
    assert Counter(NVL72) == {"gb200-compute-tray": 18, "nvlink-switch-tray": 9}
    assert [slot.persona for slot in slots[8:17]] == ["nvlink-switch-tray"] * 9
    assert {slot.nvlink_domain for slot in slots if slot.rack == "r02"} == {"r02"}


def test_the_command_invents_nvl72_racks(tmp_path: Path) -> None:
    """NVIDIA GB200 NVL72: 18 compute trays and 9 NVLink switch trays in each rack; the rack plan says the same."""
    folder = tmp_path / "fleet"
    assert fleet_command("--racks", "2", "--layout", "nvl72", "--out", str(folder)).returncode == 0
    bmcs = load_fleet(folder / "fleet.yaml").bmcs
    assert Counter((bmc.rack, bmc.persona) for bmc in bmcs) == {
        (rack, persona): count for rack in ("r01", "r02") for persona, count in Counter(NVL72).items()
    }
    assert len({bmc.serial for bmc in bmcs}) == len({bmc.address for bmc in bmcs}) == 54
    assert (folder / "expected.yaml").read_text().count("- name: ") == 54


def test_every_tray_of_an_nvl72_rack_answers() -> None:
    """The layout's personas are there: each tray is what its place in the rack says."""
    with EmulatedFleet(plan=Plan(1, 8, (), layout="nvl72")) as fleet:
        products = [BmcClient(bmc).get("/redfish/v1")["Product"] for bmc in fleet.bmcs]
    assert products == [load_persona(persona).root.product for persona in NVL72]


def test_serving_an_invented_fleet_needs_no_files(tmp_path: Path) -> None:
    """`fleet --serve`: one command, nothing on the disk."""
    port, admin_port = _free_ports()
    ports = ("--port", str(port), "--admin-port", str(admin_port))
    command = [sys.executable, "-m", "emulator", "fleet", "--racks", "300", "--trays", "1", *ports, "--serve"]
    environment = {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path), "PATH": "/usr/bin:/bin"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(f"emulator ready: 300 BMCs on port {port}, ")
        node = requests.get(f"http://127.0.0.1:{admin_port}/fleet/expected", timeout=5).json()["nodes"][-1]
        account = (node["factory_username"], node["factory_password"])
        last = RunningBmc(node["name"], node["bmc_address"], port, "hgx-h100", node["serial"], "", *account)
        assert BmcClient(last).get("/redfish/v1")["RedfishVersion"]
        assert node["bmc_address"] == "127.21.44.1"
        assert list(tmp_path.iterdir()) == []
    finally:
        process.terminate()
        process.wait(20)


def test_a_taken_address_is_told_with_file_and_line(tmp_path: Path) -> None:
    """The second of two BMCs at one address is named."""
    folder = tmp_path / "fleet"
    assert fleet_command("--trays", "2", "--out", str(folder)).returncode == 0
    path = folder / "fleet.yaml"
    path.write_text(path.read_text().replace("127.20.1.2", "127.20.1.1"))
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if "u02" in text)
    command = [sys.executable, "-m", "emulator", "serve", "--config", str(path)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert result.returncode == 2
    found = re.search(r"fleet\.yaml:(\d+): bmcs\.1\.address: address 127\.20\.1\.1 is used by two BMCs", result.stderr)
    assert found
    assert int(found[1]) > line


def test_a_fleet_of_an_unknown_persona_is_refused_before_anything_is_invented() -> None:
    """The persona is named with the nearest one that there is."""
    with pytest.raises(ConfigError, match="did you mean 'dell-xe9680'"):
        invent(Plan(1, 1, ("dell-xe968",)))


def _free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("0.0.0.0", 0))
        other.bind(("0.0.0.0", 0))
        return one.getsockname()[1], other.getsockname()[1]


def all_macs(entries: list[BmcEntry]) -> list[str]:
    personas = {entry.persona: load_persona(entry.persona) for entry in entries}
    return [
        entry.mac(personas[entry.persona], number)
        for entry in entries
        for number in range(-1, len(personas[entry.persona].system.nics))
    ]
