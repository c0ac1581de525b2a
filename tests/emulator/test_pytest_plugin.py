"""The fixtures that the package brings for tests of others."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

TESTS = """
import urllib.request
from emulator.testing import Bmc

ports = []

def test_two_fleets_at_once(emulated_fleet):
    one = emulated_fleet()
    two = emulated_fleet([Bmc("dell-xe9680"), Bmc()], keep_state=False)
    assert [bmc.name for bmc in two.bmcs] == ["r01-u01", "r01-u02"]
    assert one.summary()["bmcs"] == 1
    assert two.truth("r01-u01")["persona"] == "dell-xe9680"
    ports.extend((one.admin_url, two.admin_url))

def test_they_are_gone_afterwards(shared_emulated_fleet):
    for url in ports:
        try:
            urllib.request.urlopen(url, timeout=2)
        except OSError:
            continue
        raise AssertionError(url)
    assert len(ports) == 2
"""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""}
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=120, cwd=folder, env=environment
    )


def test_a_project_takes_the_fixtures_by_naming_the_module(tmp_path: Path) -> None:
    """FLEETS.md: pytest_plugins = ["emulator.testing"]."""
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["emulator.testing"]\n')
    example = (ROOT / "emulator/FLEETS.md").read_text().split("```python\n")[1].split("```")[0]
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "test_readme.py").write_text(example)
    result = run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", ".")
    assert "3 passed" in result.stdout, result.stdout + result.stderr


def test_the_context_manager_works_where_pytest_is_not_installed(tmp_path: Path) -> None:
    """Nothing imports pytest but pytest_plugin.py."""
    code = (
        "import sys; sys.modules['pytest'] = None\n"
        "from emulator.testing import EmulatedFleet\n"
        "with EmulatedFleet() as fleet: print(fleet.summary()['bmcs'], 'BMC')\n"
    )
    result = run(tmp_path, "-c", code)
    assert result.stdout == "1 BMC\n", result.stderr
