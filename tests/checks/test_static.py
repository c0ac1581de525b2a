"""Format, lint, types and imports are as pyproject.toml says."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.checks.tree import ROOT

BIN = Path(sys.executable).parent
CHECKS = {
    "format": ["ruff", "format", "--check"],
    "lint": ["ruff", "check"],
    "types": ["mypy"],
    "imports": ["lint-imports"],
}


@pytest.mark.parametrize("command", CHECKS.values(), ids=CHECKS.keys())
def test_check_finds_nothing(command: list[str]) -> None:
    run = subprocess.run([BIN / command[0], *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
