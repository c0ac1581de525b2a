"""kill -9 in every phase of the journal of updates: each device is flashed once, the journal ends as it would have."""

import sqlite3
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml

from emulator.testing import Bmc
from provisioner.firmware.phase import Phase
from tests.line.site import Site, site

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

BMCS = (
    Bmc("hgx-h100", power="On"),
    Bmc("dell-xe9680", power="On"),
    Bmc("gb200-compute-tray", power="On"),
    Bmc("hgx-h100", faults=({"task-fails": {"times": 1}},), power="On"),
    Bmc("hgx-h100", faults=({"task-vanishes": {"when": "start"}},), power="On"),
)
PAST = {"configuring_bios", "booting", "burning_in", "ready"}
_ROOM = 120.0


@pytest.mark.parametrize(
    "database",
    [
        pytest.param("sqlite", marks=pytest.mark.xdist_group("heavy")),
        pytest.param("postgresql", marks=pytest.mark.xdist_group("heavy-too")),
    ],
)
def test_a_daemon_that_is_killed_in_every_phase_flashes_each_device_once(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    """The hardware goes on meanwhile: it flashes in seconds what takes the product's clock minutes."""
    url = request.getfixturevalue("postgres_database") if database == "postgresql" else None
    with site(tmp_path, list(BMCS), database_url=url, speed=600) as running:
        config = yaml.safe_load((tmp_path / "site.yaml").read_text())
        (tmp_path / "site.yaml").write_text(yaml.safe_dump(config | {"speed": 60}))
        daemon = running.start()
        for phase in (one for one in Phase if one is not Phase.UNKNOWN):
            _await_phase(tmp_path, url, phase)
            running.kill(daemon)
            daemon = running.start()
        running.until(lambda nodes: all(one["state"] in PAST for one in nodes.values()), 300)
        assert running.flashed_twice() == []
        for bmc in running.fleet.bmcs:
            _ended(running, bmc.name)


def _ended(running: Site, name: str) -> None:
    """Every class is done, and nothing is open: as after a run that nobody interrupted."""
    updates: list[dict[str, Any]] = running.ask(f"/v1/nodes/{name}/firmware")["updates"]
    last = {one["component"]: one["phase"] for one in updates}
    assert set(last.values()) == {"done"}, updates
    assert {one["phase"] for one in updates} <= {"done", "failed"}, updates


def _await_phase(folder: Path, url: str | None, phase: Phase) -> None:
    """Until an entry is in this phase, looked at as often as the database lets us."""
    deadline = time.monotonic() + _ROOM
    while time.monotonic() < deadline:
        if phase.value in _phases(folder, url):
            return
        time.sleep(0.001)
    raise AssertionError(f"no entry was ever seen {phase}")


def _phases(folder: Path, url: str | None) -> set[str]:
    query = "SELECT DISTINCT phase FROM firmware_updates"
    try:
        if url is not None:
            with psycopg.connect(url) as connection:
                return {str(row[0]) for row in connection.execute(query).fetchall()}
        connection_ = sqlite3.connect(f"file:{folder}/firstlight.db?mode=ro", uri=True)
        try:
            return {str(row[0]) for row in connection_.execute(query)}
        finally:
            connection_.close()
    except (sqlite3.OperationalError, psycopg.errors.UndefinedTable):
        return set()
