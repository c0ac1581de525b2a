"""Heavy tests are marked as one group and run one after the other, beside the light ones."""

import os
import subprocess
import sys
from pathlib import Path

GROUPED = """
import os, pytest
@pytest.mark.xdist_group("heavy")
@pytest.mark.parametrize("number", range(6))
def test_it(number: int) -> None:
    print("worker", os.environ["PYTEST_XDIST_WORKER"])
"""


def test_tests_of_one_group_run_in_one_worker(tmp_path: Path) -> None:
    """pytest-dev/pytest-xdist#1386: with pytest 9.2 the mark is ignored in silence."""
    (tmp_path / "test_module.py").write_text(GROUPED)
    command = [sys.executable, "-m", "pytest", "-n2", "--dist=loadgroup", "-rP", "-c", os.devnull]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "xdist.plugin"}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert len({line for line in run.stdout.splitlines() if line.startswith("worker ")}) == 1, run.stdout
