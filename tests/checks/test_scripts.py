"""Shell scripts parse, stop at the first error and can be run."""

import os
import subprocess
from pathlib import Path

from tests.checks.tree import ROOT, checked_in_files


def shell_scripts() -> list[Path]:
    """Return the checked-in files whose first line names a shell."""
    shebangs = (b"#!/usr/bin/env bash\n", b"#!/bin/bash\n", b"#!/bin/sh\n")
    return [name for name in checked_in_files() if (ROOT / name).read_bytes().startswith(shebangs)]


def test_the_scripts_are_found() -> None:
    assert {Path("tests/run"), Path(".ci/run")} <= set(shell_scripts())


def test_scripts_parse() -> None:
    runs = [subprocess.run(["bash", "-n", ROOT / name], capture_output=True, text=True) for name in shell_scripts()]
    assert not [run.stderr for run in runs if run.returncode]


def test_scripts_are_executable() -> None:
    assert not [str(name) for name in shell_scripts() if not os.access(ROOT / name, os.X_OK)]
