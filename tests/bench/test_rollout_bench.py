"""The bench of rollouts takes every server to the new release, and says what each step took."""

import json
from pathlib import Path

from typer.testing import CliRunner

from provisioner.bench.command import bench_app

WORDS = ("rollout", "--planned", "200", "--nodes", "100")


def test_the_bench_plans_one_rollout_and_takes_another_to_its_end(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    run = CliRunner().invoke(bench_app, [*WORDS, "--simulated", "1800", "--json", str(figures)])
    assert run.exception is None, run.output
    found = json.loads(figures.read_text())
    assert (found["plan"]["nodes"], found["plan"]["waves"]) == (200, 5)
    steps = found["steps"]
    assert steps["intents"] == 100 * 7, "reserve, cordon, flip, reboot, check, label, uncordon: no node has jobs"
    assert 0 < steps["median_ms"] <= steps["p99_ms"]
    assert 1 <= steps["most_moved"] <= 10, "a tenth may be out of service"
    assert "most moved" in run.output
    good, bad = found["simulated"]["good release"], found["simulated"]["15 % defects"]
    assert (good["outcome"], good["ran_new"], good["nodes"]) == ("complete", 1800, 1800)
    assert bad["outcome"] in {"returned", "needs_human"}
    assert bad["ran_new"] <= 90
    assert bad["steps"] < good["steps"]


def test_too_few_servers_for_the_floor_are_refused() -> None:
    run = CliRunner().invoke(bench_app, ["rollout", "--planned", "1"])
    assert run.exit_code == 2
