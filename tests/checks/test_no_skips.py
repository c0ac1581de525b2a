"""Skipped is not passed: in CI a test that cannot run fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NOT_RUN = {
    "skipped_when_run": "def test_it() -> None:\n    pytest.skip('no server here')\n",
    "skipped_by_mark": "@pytest.mark.skip(reason='no server here')\ndef test_it() -> None: ...\n",
    "skipped_as_module": "pytest.skip('no server here', allow_module_level=True)\n",
    "expected_to_fail": "@pytest.mark.xfail(reason='no server here')\ndef test_it() -> None:\n    assert False\n",
    "passes_by_surprise": "@pytest.mark.xfail(reason='no server here')\ndef test_it() -> None: ...\n",
}
RUN = {"runs": "def test_it() -> None: ...\n"}


def run_pytest(folder: Path, modules: dict[str, str], ci: str) -> subprocess.CompletedProcess[str]:
    """Run test modules by themselves with our plugin."""
    for name, source in modules.items():
        (folder / f"test_{name}.py").write_text(f"import pytest\n{source}")
    command = [sys.executable, "-m", "pytest", "-p", "tests.checks.no_skips", "--continue-on-collection-errors"]
    command += ["-c", os.devnull, "--rootdir", str(folder), str(folder)]
    environment = {**os.environ, "CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_a_test_that_did_not_run_fails_in_ci_and_says_why(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, NOT_RUN | RUN, ci="true")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout
    summary = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    assert len(summary) == len(NOT_RUN), run.stdout
    assert all("no server here" in line for line in summary), run.stdout


def test_skips_are_fine_on_a_persons_machine(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, NOT_RUN | RUN, ci="")
    assert run.returncode == pytest.ExitCode.OK, run.stdout
