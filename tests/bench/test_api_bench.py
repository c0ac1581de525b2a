"""The bench of the API's lists: pages alone and beside boots. How long they take is for people to judge."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from provisioner.bench.command import bench_app

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("heavy"), pytest.mark.timeout(300)]


def test_pages_are_read_alone_and_beside_boots(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    done = CliRunner().invoke(bench_app, ["api", "--nodes", "250", "--seconds", "1", "--json", str(path)])
    assert done.exit_code == 0, done.output
    alone, beside = json.loads(path.read_text(encoding="utf-8"))
    assert (alone["beside"], beside["beside"]) == ("nothing", "boots")
    assert alone["pages"] >= 3, "the whole list at least once"
    assert 0 < alone["p50_ms"] <= alone["p95_ms"] <= alone["p99_ms"]
    assert beside["beside_per_second"] > 0
    assert "bench api" in done.output
