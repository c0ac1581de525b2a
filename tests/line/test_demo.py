"""The demo, as a newcomer runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.xdist_group("heavy"), pytest.mark.timeout(600)]


def _demo(data_dir: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "provisioner", "demo", "--data-dir", str(data_dir), "--racks", "1", "--trays", "3"]
    return subprocess.run(
        [*command, "--speed", "600", "--exit-when-ready", *more], capture_output=True, text=True, timeout=500
    )


def _last_line(done: "subprocess.CompletedProcess[str]") -> str:
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else done.stderr


def test_a_rack_goes_from_dark_to_ready_and_a_second_run_resumes(tmp_path: Path) -> None:
    """The last line says how it ended; the second run finds everything as it was."""
    first = _demo(tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    assert re.fullmatch(r"3 ready, 0 held, \d+(\.\d+)? min", _last_line(first))
    assert "http://127.0.0.1:" in first.stdout
    second = _demo(tmp_path)
    assert second.returncode == 0, second.stdout + second.stderr
    assert _last_line(second).startswith("3 ready, 0 held")
    assert "updating_firmware" not in second.stdout


def test_a_fault_is_held_with_its_instruction(tmp_path: Path) -> None:
    """Exit code 1: somebody has to do something, and is told what."""
    done = _demo(tmp_path, "--fault", "wrong-password@r01-u02")
    assert done.returncode == 1
    assert _last_line(done).startswith("2 ready, 1 held")
    assert "firstlight node password r01-u02" in done.stdout


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("wrong-pasword@r01-u02", "wrong-password"),
        ("wrong-password@r09-u02", "r09-u02"),
        ("wrong-password", "NAME@NODE"),
    ],
)
def test_a_fault_that_does_not_exist_is_refused(tmp_path: Path, option: str, words: str) -> None:
    """With the nearest name, before anything starts."""
    done = _demo(tmp_path, "--fault", option)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
