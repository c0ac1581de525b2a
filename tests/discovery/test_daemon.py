"""Discovery as a site runs it: three emulated BMCs, of which the list expects two, and a server that is not there."""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from emulator.testing import Bmc, RunningBmc
from tests.line.site import Site, site

pytestmark = [pytest.mark.xdist_group("heavy"), pytest.mark.timeout(600)]

GHOST = "r01-u09"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The daemon looks every second, and the two have gone all their way."""
    ghost: dict[str, Any] = {}

    def change(expected: dict[str, Any]) -> None:
        nodes = expected["nodes"]
        del nodes[2]
        network = nodes[0]["bmc_address"].rsplit(".", 1)[0]
        ghost.update(nodes[0] | {"name": GHOST, "position": 9, "bmc_address": f"{network}.99", "serial": "GHOST"})
        nodes.append(ghost)

    with site(tmp_path_factory.mktemp("site"), [Bmc(), Bmc("dell-xe9680"), Bmc()], change=change) as running:
        config = yaml.safe_load((running.folder / "site.yaml").read_text())
        network = ghost["bmc_address"].rsplit(".", 1)[0]
        config["discovery"] = {"ranges": [f"{network}.0/25"], "port": ghost["bmc_port"], "every": "1s"}
        (running.folder / "site.yaml").write_text(yaml.safe_dump(config))
        running.start()
        running.until(lambda nodes: all(nodes[name]["state"] == "ready" for name in ("r01-u01", "r01-u02")))
        yield running


def discoveries(running: Site, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until /v1/discoveries is as wanted."""
    deadline = time.monotonic() + 60
    while not done(told := running.ask("/v1/discoveries")):
        assert time.monotonic() < deadline, told
        time.sleep(0.2)
    found: dict[str, Any] = told
    return found


def third(running: Site) -> RunningBmc:
    """The one that nobody expects."""
    return running.fleet.bmcs[2]


def command(running: Site, *words: str) -> str:
    line = [sys.executable, "-m", "provisioner", "discover", "--config", str(running.folder / "site.yaml"), *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_exactly_the_third_is_unexpected_and_never_becomes_a_node(running: Site) -> None:
    told = discoveries(running, lambda told: told["expected_count"] == 2)
    (stranger,) = told["unexpected"]
    bmc = third(running)
    assert (stranger["address"], stranger["port"], stranger["uuid"]) == (bmc.address, bmc.port, bmc.uuid.lower())
    assert (stranger["vendor"], stranger["how"], stranger["same_uuid"]) == ("Supermicro", "scan", [])
    assert (told["expected_count"], told["expected"]) == (2, None)
    instruction = stranger["instruction"]
    assert instruction["owner"] == "operator"
    assert instruction["where"] == f"{bmc.address}:{bmc.port}: Supermicro, UUID {bmc.uuid.lower()}"
    assert "put it on the expected list with rack and position" in instruction["what"]
    assert set(running.nodes()) == {"r01-u01", "r01-u02", GHOST}


def test_an_expected_server_that_is_not_there_is_missing(running: Site) -> None:
    told = discoveries(running, lambda told: bool(told["missing"]))
    (gone,) = told["missing"]
    assert (gone["node"], gone["rack"], gone["position"], gone["last_seen"]) == (GHOST, "r01", 9, None)
    assert gone["instruction"]["owner"] == "technician"
    assert gone["instruction"]["where"] == f"rack r01, position 9 ({GHOST})"
    assert gone["address"] in gone["instruction"]["what"]


def test_metrics_count_them(running: Site) -> None:
    discoveries(running, lambda told: told["expected_count"] == 2)
    token = (running.folder / "admin-token").read_text().strip()
    request = urllib.request.Request(f"{running.url}/metrics", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        lines = answer.read().decode().splitlines()
    assert "firstlight_bmcs_unexpected 1.0" in lines
    assert "firstlight_bmcs_missing 1.0" in lines


def test_the_command_shows_what_the_service_saw(running: Site) -> None:
    discoveries(running, lambda told: told["expected_count"] == 2)
    lines = command(running).splitlines()
    assert lines[0].split() == ["address", "vendor", "product", "uuid", "is"]
    rows = {line.split()[0]: line for line in lines[1:5]}
    first, second, stranger = running.fleet.bmcs
    assert rows[f"{first.address}:{first.port}"].endswith("expected: r01-u01")
    assert rows[f"{second.address}:{second.port}"].endswith("expected: r01-u02")
    assert "Integrated Dell Remote Access Controller" in rows[f"{second.address}:{second.port}"]
    assert rows[f"{stranger.address}:{stranger.port}"].split()[1:] == ["Supermicro", stranger.uuid, "unexpected"]
    assert lines[4].endswith(f"missing: {GHOST}, rack r01, position 9")
    assert lines[6].startswith("2 expected, 1 unexpected, 1 missing; scanned ")
    assert [line.split(",")[0] for line in lines[7:]] == ["operator", "technician"]


def test_a_scan_of_its_own_says_the_same(running: Site) -> None:
    discoveries(running, lambda told: told["expected_count"] == 2)
    service, own = (json.loads(command(running, "--json", *more)) for more in ((), ("--once",)))
    for told in (service, own):
        told.pop("scanned_at")
        told.pop("next_scan_at")
    assert own == service
    assert [one["node"] for one in own["expected"]] == ["r01-u01", "r01-u02"]


def test_the_two_have_become_ready_and_nobody_knocks_at_the_third(running: Site) -> None:
    """No login, no session; nothing but looks at its root."""
    discoveries(running, lambda told: bool(told["unexpected"]))
    truth = running.fleet.truth(third(running).name)
    assert (truth["failed_logins"], truth["sessions"], truth["boots"]) == (0, 0, 0)
    assert [request.rstrip("/") for request in truth["requests"]] == ["GET /redfish/v1"]


def test_once_it_is_unplugged_nobody_has_to_do_anything(running: Site) -> None:
    """And however often it was seen, the log has told of it once."""
    running.fleet.act(third(running).name, "power-loss")
    assert discoveries(running, lambda told: not told["unexpected"])["expected_count"] == 2
    assert (running.folder / "daemon.log").read_text().count("unexpected_bmc_found") == 1


def test_without_a_service_the_command_scans(running: Site) -> None:
    """The last test: the daemon ends."""
    for daemon in running.daemons:
        daemon.terminate()
        daemon.wait(timeout=60)
    assert "2 expected, 0 unexpected, 1 missing; scanned " in command(running)


def test_the_log_of_a_site_that_looks_nowhere_is_silent(tmp_path: Path) -> None:
    with site(tmp_path, [Bmc()]) as running:
        running.start()
        running.until(lambda nodes: nodes["r01-u01"]["state"] != "discovered")
        told = running.ask("/v1/discoveries")
        assert (told["scanned_at"], told["unexpected"], told["missing"]) == (None, [], [])
        assert "discovery" not in (running.folder / "daemon.log").read_text()
