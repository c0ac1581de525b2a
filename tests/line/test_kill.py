"""kill -9 at random moments: after the restart every node gets ready, and no component is flashed twice."""

import time
from pathlib import Path

import psycopg
import pytest

from emulator.testing import Bmc
from provisioner.demo.rack import PERSONAS
from tests.line.site import Site, moments, site

pytestmark = pytest.mark.timeout(900)

SEEDS = 8
PATH = [
    "identified",
    "secured",
    "inventoried",
    "updating_firmware",
    "configuring_bios",
    "booting",
    "burning_in",
    "ready",
]


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize(
    "database",
    [
        pytest.param("sqlite", marks=pytest.mark.xdist_group("heavy")),
        pytest.param("postgresql", marks=pytest.mark.xdist_group("heavy-too")),
    ],
)
def test_a_killed_daemon_goes_on_where_it_was(
    tmp_path: Path, database: str, seed: int, request: pytest.FixtureRequest
) -> None:
    """One server of each kind, the daemon killed twice; the emulated hardware goes on meanwhile."""
    url = request.getfixturevalue("postgres_database") if database == "postgresql" else None
    with site(tmp_path, [Bmc(persona) for persona in PERSONAS], database_url=url) as running:
        daemon = running.start()
        for moment in moments(seed, 2, within_seconds=7.0):
            time.sleep(moment)
            running.kill(daemon)
            daemon = running.start()
        running.until(lambda nodes: all(one["state"] == "ready" for one in nodes.values()), 300)
        assert running.flashed_twice() == []
        for bmc in running.fleet.bmcs:
            _went_the_whole_way(running, bmc.name)


@pytest.mark.xdist_group("heavy-too")
def test_the_work_of_a_killed_worker_is_taken_up_within_ten_seconds(tmp_path: Path, postgres_database: str) -> None:
    """Two workers on PostgreSQL; the slot lease of the dead one is free as soon as its connection is."""
    with site(tmp_path, [Bmc(persona) for persona in PERSONAS * 3], database_url=postgres_database) as running:
        running.start()
        running.until(bool, 60)
        other = running.start(running.second_worker())
        slot = _slot_with_work(postgres_database, own="slot-0")
        running.kill(other)
        killed = time.monotonic()
        while _pending(postgres_database, slot):
            assert time.monotonic() - killed < 10, "its runs are still under the dead worker's name"
            time.sleep(0.1)
        running.until(lambda nodes: all(one["state"] == "ready" for one in nodes.values()), 300)
        assert running.flashed_twice() == []


def _went_the_whole_way(running: Site, name: str) -> None:
    """No state was skipped, whatever was repeated."""
    visited = {event["to_state"] for event in running.history(name)}
    assert set(PATH) <= visited, f"{name} skipped {set(PATH) - visited}"
    assert running.fleet.truth(name)["booted_image"]


def _slot_with_work(url: str, own: str) -> str:
    """Wait until the second worker has runs in hand; its slot."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with psycopg.connect(url) as connection:
            found = connection.execute(
                "SELECT executor_id FROM dbos.workflow_status WHERE status = 'PENDING' AND executor_id <> %s LIMIT 1",
                (own,),
            ).fetchone()
        if found:
            return str(found[0])
        time.sleep(0.05)
    raise AssertionError("the second worker never took any work")


def _pending(url: str, slot: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM dbos.workflow_status WHERE status = 'PENDING' AND executor_id = %s", (slot,)
        ).fetchone()
    return int(row[0]) if row else 0
