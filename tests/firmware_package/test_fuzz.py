"""A short run of the fuzzer with every run of the tests; `fuzz_package.py` says how to let it run for hours."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from tests.checks.tree import ROOT
from tests.requirements import need

RUNS = 4000


def test_the_fuzzer_finds_nothing_but_refusals(tmp_path: Path) -> None:
    """Anything else than `PackageError` ends it with another status; that it got deep is told by what it covered."""
    need(
        importlib.util.find_spec("atheris"),
        "atheris is not installed: it has wheels for CPython 3.11 to 3.13 on x86-64 Linux alone",
    )
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    options = [f"-runs={RUNS}", "-seed=1", "-max_len=2048", "-rss_limit_mb=1024", f"-artifact_prefix={tmp_path}/"]
    command = [sys.executable, "-m", "tests.firmware_package.fuzz_package", str(corpus), *options]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert run.returncode == 0, run.stderr
    assert f"Done {RUNS} runs" in run.stderr
    covered = [int(found) for found in re.findall(r"cov: (\d+)", run.stderr)]
    assert covered[-1] > covered[0] > 100, run.stderr
