"""The bench of firmware planning plans servers that need something, in a process of its own."""

import json
from pathlib import Path

from typer.testing import CliRunner

from provisioner.bench.command import bench_app


def test_the_bench_plans_servers_that_differ(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    words = ["firmware", "--part", "planning", "--planned", "50", "--json", str(figures)]
    run = CliRunner().invoke(bench_app, words)
    assert run.exception is None, run.output
    found = json.loads(figures.read_text())["planning"]
    assert (found["components"], found["parts"]) == (40, 50 * 47)
    assert found["stages"] > 2 * 50
    assert "50 nodes" in run.output
