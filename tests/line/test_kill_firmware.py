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
    Bmc("hgx-h100", faults=({"chassis-stays-old": {}},), power="On"),
    Bmc("dell-xe9680", power="On"),
    Bmc("gb200-compute-tray", power="On"),
    Bmc("hgx-h100", faults=({"task-fails": {"times": 1}},), power="On"),
    Bmc("hgx-h100", faults=({"task-vanishes": {"when": "start"}},), power="On"),
)
FORGETFUL = Bmc("hgx-h100", faults=({"task-vanishes": {"when": "start"}},), power="On")
"""Shows neither a task nor what it holds: nobody knows what becomes of any update before its activation."""
KILLS = 4
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
        _slower(tmp_path, 60)
        daemon = running.start()
        for phase in (one for one in Phase if one is not Phase.UNKNOWN):
            _await_phase(tmp_path, url, phase)
            running.kill(daemon)
            daemon = running.start()
        running.until(lambda nodes: all(one["state"] in PAST for one in nodes.values()), 300)
        assert running.flashed_twice() == []
        for bmc in running.fleet.bmcs:
            _ended(running, bmc.name)


@pytest.mark.parametrize(
    "database",
    [
        pytest.param("sqlite", marks=pytest.mark.xdist_group("heavy")),
        pytest.param("postgresql", marks=pytest.mark.xdist_group("heavy-too")),
    ],
)
def test_a_daemon_that_is_killed_while_nobody_knows_ends_as_one_that_is_not(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    """The journal is in `unknown` at each kill, each time because of another update."""
    undisturbed = tmp_path / "undisturbed"
    undisturbed.mkdir()
    with site(undisturbed, [FORGETFUL], speed=600) as running:
        running.start()
        expected = _journal(running, seconds=120)
    url = request.getfixturevalue("postgres_database") if database == "postgresql" else None
    with site(tmp_path, [FORGETFUL], database_url=url, speed=600) as running:
        _slower(tmp_path, 100)  # a state's limit is hours, and each start of a daemon takes seconds
        daemon = running.start()
        known = 0
        for _ in range(KILLS):
            known = _await_unknown(tmp_path, url, known)
            running.kill(daemon)
            assert Phase.UNKNOWN.value in _phases(tmp_path, url), "the kill came too late"
            daemon = running.start()
        assert _journal(running, seconds=300) == expected
        assert running.flashed_twice() == []
    assert sum(Phase.UNKNOWN.value in phases for phases in expected.values()) >= KILLS
    assert {phases[-1] for phases in expected.values()} == {Phase.DONE.value}


def _journal(running: Site, seconds: float) -> dict[tuple[str, str, int], tuple[str, ...]]:
    """The phases of every update, once the node is past its firmware."""
    nodes = running.until(lambda nodes: all(one["state"] in {*PAST, "held"} for one in nodes.values()), seconds)
    ((name, node),) = nodes.items()
    updates: list[dict[str, Any]] = running.ask(f"/v1/nodes/{name}/firmware")["updates"]
    assert node["state"] in PAST, (node, updates)
    return {
        (one["component"], one["version"], one["attempt"]): tuple(change["phase"] for change in one["changes"])
        for one in updates
    }


def _slower(folder: Path, speed: float) -> None:
    config = yaml.safe_load((folder / "site.yaml").read_text())
    (folder / "site.yaml").write_text(yaml.safe_dump(config | {"speed": speed}))


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


def _await_unknown(folder: Path, url: str | None, known: int) -> int:
    """Until the entry of another update than `known` is in `unknown`; its number."""
    deadline = time.monotonic() + _ROOM
    while time.monotonic() < deadline:
        new = [number for number, phase in _rows(folder, url) if phase == Phase.UNKNOWN and number > known]
        if new:
            return max(new)
        time.sleep(0.001)
    raise AssertionError("no further entry was ever seen in unknown")


def _phases(folder: Path, url: str | None) -> set[str]:
    return {phase for _, phase in _rows(folder, url)}


def _rows(folder: Path, url: str | None) -> set[tuple[int, str]]:
    """Number and phase of every entry."""
    query = "SELECT number, phase FROM firmware_updates"
    try:
        if url is not None:
            with psycopg.connect(url) as connection:
                return {(int(row[0]), str(row[1])) for row in connection.execute(query).fetchall()}
        connection_ = sqlite3.connect(f"file:{folder}/firstlight.db?mode=ro", uri=True)
        try:
            return {(int(row[0]), str(row[1])) for row in connection_.execute(query)}
        finally:
            connection_.close()
    except (sqlite3.OperationalError, psycopg.errors.UndefinedTable):
        return set()
