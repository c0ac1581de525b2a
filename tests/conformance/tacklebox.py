"""The command line scripts of redfish-utilities (DMTF's Redfish-Tacklebox), as a person runs them."""

import subprocess
import sys
from pathlib import Path

from emulator.testing import RunningBmc
from tests.conformance.suites import environment

_LIMIT_SECONDS = 90
_TRIES = 5


def rf(bmc: RunningBmc, script: str, *arguments: str) -> str:
    """Run `rf_<script>.py` against a BMC and return what it prints; AssertionError unless it exits with 0.

    The scripts give up on 412. A host that boots changes its BootProgress, and so its ETag, between the GET and the
    PATCH of a script: nothing was written, and a person runs it again.
    """
    for _ in range(_TRIES):
        run = _run(bmc, script, *arguments)
        if run.returncode == 0 or "PreconditionFailed" not in run.stdout + run.stderr:
            break
    assert run.returncode == 0, f"rf_{script} {' '.join(arguments)}: {run.returncode}\n{run.stdout}\n{run.stderr}"
    return run.stdout


def _run(bmc: RunningBmc, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = Path(sys.executable).parent / f"rf_{script}.py"
    login = ["--user", bmc.username, "--password", bmc.password, "--rhost", bmc.url]
    command = [sys.executable, str(path), *login, *arguments]
    return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=_LIMIT_SECONDS)
