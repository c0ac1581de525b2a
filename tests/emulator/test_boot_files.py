"""What the fleet file says in place of DHCP, and what runs on booted hosts."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from emulator.config import load_fleet
from emulator.errors import ConfigError
from emulator.fleet import Settings, invent, write_fleet
from emulator.racks import Plan
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import wait_for
from tests.emulator.boot_server import BootServer


def fleet_file(folder: Path, **changes: object) -> Path:
    write_fleet(invent(Plan(1, 1, ("hgx-h100",))), Settings(), folder)
    path = folder / "fleet.yaml"
    path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | changes))
    return path


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"boot_files": {"0x10": "http://h/x"}}, "0x0007 or 0x0010"),
        ({"boot_files": {"ipxe": "http://h/{nonsense}"}}, "unknown placeholder"),
        ({"boot_files": {"ipxe": "http://h/{"}}, "unknown placeholder"),
        ({"boot_files": {"ipxe": "http://h/{0}"}}, "unknown placeholder"),
        ({"boot_files": {"ipxe": "http://h/{uuid.hex}"}}, "unknown placeholder"),
        ({"agent": "ghost"}, "process"),
    ],
)
def test_wrong_boot_settings_are_named(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    """Before anything starts."""
    with pytest.raises(ConfigError, match=words):
        load_fleet(fleet_file(tmp_path, **changes))


def test_boot_files_are_kept_as_written(tmp_path: Path) -> None:
    """Placeholders are filled in for each host."""
    boot_files = {"ipxe": "{boot_service}/x?s={serial}", "0x0013": "http://h/arm.efi"}
    assert load_fleet(fleet_file(tmp_path, boot_files=boot_files)).boot_files == boot_files


def test_fleet_command_writes_what_runs_on_its_hosts(tmp_path: Path) -> None:
    """`--agent stand-in`."""
    command = [sys.executable, "-m", "emulator", "fleet", "--trays", "1", "--agent", "stand-in", "--out", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    assert load_fleet(tmp_path / "fleet.yaml").agent == "stand-in"


def test_one_run_may_have_stand_ins_whatever_the_file_says(tmp_path: Path) -> None:
    """`serve --agent stand-in`."""
    root = b"not run"
    with BootServer() as server, EmulatedFleet([Bmc(power="On")], boot_service=server.url, directory=tmp_path) as fleet:
        server.offer("/boot/ipxe", root)
        fleet.stop()
        command = [sys.executable, "-m", "emulator", "serve", "--config", str(fleet.fleet_path), "--agent", "stand-in"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            assert b"emulator ready" in process.stdout.readline()
            truth = wait_for(lambda: (now := fleet.truth("r01-u01"))["agent_alive"] and now)
            assert truth["agent_pid"] is None
        finally:
            process.terminate()
            process.communicate(timeout=30)
