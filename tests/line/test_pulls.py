"""A daemon that serves packages knows which BMC came for which, by the address that it came from."""

from pathlib import Path
from typing import Any

import pytest

from emulator.testing import Bmc
from tests.line.site import Site, site

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group("heavy")]

NEVER_COMES = Bmc("hgx-h100", faults=({"image-not-fetched": {"times": 1}},), power="On")
COMES = Bmc("hgx-h100", faults=({"task-fails": {"times": 1}},), power="On")
PAST = {"configuring_bios", "booting", "burning_in", "ready"}


def test_the_journal_tells_a_bmc_that_never_came_from_one_that_did(tmp_path: Path) -> None:
    """The first of the two gets its package by a push then; both get to their bundle without a person."""
    with site(tmp_path, [NEVER_COMES, COMES], speed=300) as running:
        running.start()
        running.until(lambda nodes: all(one["state"] in {*PAST, "held"} for one in nodes.values()), 600)
        reasons = [_failed(running, bmc.name) for bmc in running.fleet.bmcs]
        addresses = [bmc.address for bmc in running.fleet.bmcs]
        assert f"; the BMC at {addresses[0]} never fetched the package: it cannot reach {running.url}" in reasons[0]
        assert f"; the BMC at {addresses[1]} fetched the whole package (" in reasons[1]
        assert _pushes(running, 0) == 1
        assert _pushes(running, 1) == 0
        assert running.flashed_twice() == []
        assert all(one["state"] in PAST for one in running.nodes().values())


def _failed(running: Site, name: str) -> str:
    """Why the only attempt failed that did."""
    updates: list[dict[str, Any]] = running.ask(f"/v1/nodes/{name}/firmware")["updates"]
    (reason,) = [one["reason"] for one in updates if one["phase"] == "failed"]
    return str(reason)


def _pushes(running: Site, number: int) -> int:
    requests = running.fleet.truth(running.fleet.bmcs[number].name)["requests"]
    return sum(count for asked, count in requests.items() if asked.startswith("POST") and "/upload" in asked.lower())
