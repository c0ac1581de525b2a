"""The command line scripts of redfish-utilities (DMTF's Redfish-Tacklebox), as a person runs them."""

import subprocess
import sys
from pathlib import Path

from emulator.testing import RunningBmc
from tests.conformance.suites import environment

_LIMIT_SECONDS = 90


def rf(bmc: RunningBmc, script: str, *arguments: str) -> str:
    """Run `rf_<script>.py` against a BMC and return what it prints; AssertionError unless it exits with 0."""
    path = Path(sys.executable).parent / f"rf_{script}.py"
    login = ["--user", bmc.username, "--password", bmc.password, "--rhost", bmc.url]
    command = [sys.executable, str(path), *login, *arguments]
    run = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=_LIMIT_SECONDS)
    assert run.returncode == 0, f"rf_{script} {' '.join(arguments)}: {run.returncode}\n{run.stdout}\n{run.stderr}"
    return run.stdout
