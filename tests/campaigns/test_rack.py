"""A small rack of emulated servers and a whole daemon: canary first, a fault stops it, kill -9 changes nothing."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from emulator.testing import Bmc
from provisioner.bench.firmware_campaign import HARDWARE, RELEASE, choose_bare
from tests.line.site import Site, site

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ORDER = {"name": "spring", "release": RELEASE, "per_rack": 2, "per_site": 4}
FAULT = "flash-completes-old-version"
_ROOM = 300.0


@contextmanager
def ready_rack(folder: Path, nodes: int, database_url: str | None = None) -> Iterator[Site]:
    """Every server installed with a release that leaves its firmware as it is; the daemon runs."""
    with site(folder, [Bmc("hgx-h100")] * nodes, database_url=database_url) as running:
        choose_bare(folder, folder / "profiles", RELEASE, HARDWARE)
        config = yaml.safe_load((folder / "site.yaml").read_text())
        (folder / "site.yaml").write_text(yaml.safe_dump({**config, "drift": {"every": "1s"}}))
        running.start()
        running.until(lambda seen: all(one["state"] == "ready" for one in seen.values()))
        yield running


def until(running: Site, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until the campaign is so; it, as the API shows it. The daemon may be away for a while."""
    deadline = time.monotonic() + _ROOM
    seen: dict[str, Any] = {}
    while time.monotonic() < deadline:
        try:
            seen = running.ask("/v1/campaigns/spring")
        except OSError:
            time.sleep(0.2)
            continue
        if done(seen):
            return seen
        time.sleep(0.2)
    raise AssertionError(f"{seen}\n{(running.folder / 'daemon.log').read_text()[-3000:]}")


def go_on(running: Site, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """As `until`; whenever a failed try has stopped the campaign, a person looks and lets it go on."""
    seen = until(running, lambda seen: seen["state"] == "stopped" or done(seen))
    while not done(seen):
        assert "a try of" in seen["why"], seen
        running.ask("/v1/campaigns/spring/resume", "POST")
        seen = until(running, lambda seen: seen["state"] == "stopped" or done(seen))
    return seen


def moments(running: Site, name: str) -> tuple[str, str]:
    """When the campaign took the node, and when it was ready again."""
    events = running.history(name)
    taken = next(one["at"] for one in events if one["reason"].startswith("campaign spring gives it"))
    return taken, [one["at"] for one in events if one["to_state"] == "ready"][-1]


def flashes(running: Site) -> dict[str, int]:
    """How many component versions each device took."""
    return {bmc.name: len(running.fleet.truth(bmc.name)["flashes"]) for bmc in running.fleet.bmcs}


def calm(running: Site, findings: int) -> list[dict[str, Any]]:
    """Wait for the drift watch to have read every node and to tell so many findings."""
    deadline = time.monotonic() + _ROOM
    told: dict[str, Any] = {}
    while time.monotonic() < deadline:
        told = running.ask("/v1/firmware/drift")
        if told["nodes_read"] == len(running.fleet.bmcs) and len(told["findings"]) == findings:
            return list(told["findings"])
        time.sleep(0.5)
    raise AssertionError(told)


@pytest.mark.parametrize(
    "database",
    [
        pytest.param("sqlite", marks=pytest.mark.xdist_group("heavy")),
        pytest.param("postgresql", marks=pytest.mark.xdist_group("heavy-too")),
    ],
)
def test_a_daemon_killed_in_the_middle_brings_each_node_there_once(
    tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    """Killed while the canary moves, and while the others do.

    A kill may cost a node a try, and then the campaign stops, as it should: a person looks and lets it go on.
    """
    url = request.getfixturevalue("postgres_database") if database == "postgresql" else None
    with ready_rack(tmp_path, 4, url) as running:
        assert set(flashes(running).values()) == {0}
        running.ask("/v1/campaigns", "POST", ORDER)
        for members in (1, 2):
            go_on(running, lambda seen, members=members: seen["counts"]["moving"] >= members)  # type: ignore[misc]  # bound above
            running.kill(running.daemons[-1])
            running.start()
        ended = go_on(running, lambda seen: seen["ended_at"] is not None)
        assert (ended["state"], ended["counts"]["done"]) == ("done", 4)
        assert running.flashed_twice() == []
        assert len(set(flashes(running).values())) == 1
        assert min(flashes(running).values()) >= 5
        canary, *others = [moments(running, bmc.name) for bmc in running.fleet.bmcs]
        assert all(taken > canary[1] for taken, _ in others), "nothing starts before the canary is ready again"
        assert calm(running, 0) == []


@pytest.mark.xdist_group("heavy")
def test_a_node_with_a_fault_stops_it_until_a_person_has_looked(tmp_path: Path) -> None:
    """The second node flashes and stays as it was: it is held, and the third waits."""
    with ready_rack(tmp_path, 3) as running:
        running.fleet.set_fault("r01-u02", FAULT, {"component": "cpld"})
        running.ask("/v1/campaigns", "POST", {**ORDER, "per_rack": 1})
        stopped = until(running, lambda seen: seen["state"] == "stopped")
        assert stopped["why"].startswith("r01-u02: ")
        assert [one["state"] for one in stopped["members"]] == ["done", "failed", "waiting"]
        running.until(lambda seen: seen["r01-u02"]["state"] == "held")
        assert running.nodes()["r01-u03"]["state"] == "ready"
        assert running.fleet.truth("r01-u03")["flashes"] == {}
        differs = [one for one in running.ask("/v1/firmware/drift")["findings"] if one["where"] == "r01-u02"]
        assert differs == [], "a node on its way is in no finding"
        running.fleet.clear_fault("r01-u02", FAULT)
        running.ask("/v1/nodes/r01-u02/release", "POST")
        running.ask("/v1/campaigns/spring/resume", "POST")
        ended = until(running, lambda seen: seen["ended_at"] is not None)
        assert ended["counts"]["done"] == 3
        history = [one["what"] for one in ended["history"]]
        assert history[0] == "started by admin"
        assert history[1].startswith("stopped by itself: r01-u02: ")
        assert history[-2:] == ["resumed by admin", "ended"]


@pytest.mark.xdist_group("heavy-too")
def test_what_drifts_after_the_campaign_is_told_and_left_alone(tmp_path: Path) -> None:
    """The BMC calls its CPLD otherwise: the component is not seen any more."""
    with ready_rack(tmp_path, 2) as running:
        running.ask("/v1/campaigns", "POST", ORDER)
        until(running, lambda seen: seen["ended_at"] is not None)
        assert calm(running, 0) == []
        running.fleet.set_fault("r01-u02", "inventory-renamed", {"old": "CPLD", "new": "PLD"})
        told = {one["kind"]: one for one in calm(running, 2)}
        assert told["off_bundle"]["told"].startswith("r01-u02 is off its bundle: cpld runs no part, and should run ")
        assert (told["pool_differs"]["where"], told["pool_differs"]["odd"]) == (f"pool {HARDWARE}", ["r01-u02"])
        assert {one["state"] for one in running.nodes().values()} == {"ready"}
        running.fleet.set_fault("r01-u02", "inventory-renamed", {"old": "nothing", "new": "else"})
        assert calm(running, 0) == []
        reasons = [one["reason"] for one in running.history("r01-u02")]
        assert any(one.startswith("firmware drift: r01-u02 is off") for one in reasons)
        assert any(one.startswith("firmware drift is gone: ") for one in reasons)
