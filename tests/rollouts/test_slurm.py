"""A rollout through nodes of a real Slurm: jobs end first, and a person's drain is theirs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.rollouts.rack import begin, boots, planned, rack, until
from tests.schedulers.slurm_cluster import Cluster, slurm_cluster

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500), pytest.mark.xdist_group("slurm")]

NAMES = {"r01-u01": "n0", "r01-u02": "n1"}
"""The cluster's nodes are called n0 and n1."""


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Start a Slurm of two nodes."""
    with slurm_cluster() as running:
        yield running


def renamed(expected: dict[str, Any]) -> None:
    for rack_or_node in expected["nodes"]:
        rack_or_node["name"] = NAMES[rack_or_node["name"]]


def test_jobs_end_before_a_node_reboots_and_a_drain_by_a_person_stays_theirs(tmp_path: Path, cluster: Cluster) -> None:
    pool = {"scheduler": "slurm", "floor": "0%"}
    schedulers = {"schedulers": {"slurm": {"kind": "slurm", "conf": str(cluster.conf)}}}
    with rack(tmp_path, 2, pool=pool, site_more=schedulers, change=renamed) as running:
        first, second = (units[0] for units in planned(running, "spring", control_required=False))
        job = cluster.start_job(first)
        cluster.run("scontrol", "update", f"nodename={second}", "state=drain", "reason=ann looks at its disk")
        before = boots(running)
        begin(running, "spring", control_required=False)
        until(running, "spring", lambda seen: [one["state"] for one in seen["in_hand"]] == ["draining"])
        assert "DRAIN" in cluster.state(first)
        assert cluster.job_state(job) == "RUNNING"
        assert boots(running) == before
        cluster.run("scancel", job)
        blocked = until(running, "spring", lambda seen: seen["paused_by"] == "blocked" and not seen["in_hand"])
        assert second in blocked["why"]
        assert "ann looks at its disk" in blocked["why"]
        assert "DRAIN" not in cluster.state(first)
        assert "DRAIN" in cluster.state(second)
        cluster.run("scontrol", "update", f"nodename={second}", "state=resume")
        until(running, "spring", lambda seen: seen["state"] == "complete")
        assert "DRAIN" not in cluster.state(second)
        assert {name: count - before[name] for name, count in boots(running).items()} == dict.fromkeys(before, 1)
