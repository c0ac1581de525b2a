"""The benches against the emulator: what they compare and count. How long anything takes is for people to judge."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from emulator.testing import Bmc, EmulatedFleet
from provisioner.bench.clients.raw_load import load
from provisioner.bench.resources import Resources, resources_in
from provisioner.bench.targets import Target
from provisioner.errors import BadInput
from provisioner.models.node import BmcAddress
from provisioner.models.secret import Credentials, Secret

pytestmark = [pytest.mark.xdist_group("heavy"), pytest.mark.timeout(300)]
_WITHOUT_EMULATOR = """
import sys
sys.modules["sushy_tools"] = None
from provisioner.__main__ import main
main()
"""


def _bench(*arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "provisioner", "bench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


def _figures(path: Path, *arguments: str) -> Any:
    done = _bench(*arguments, "--json", str(path))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"bench {arguments[0]}" in done.stdout
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_client_reads_the_same_of_each_server(tmp_path: Path) -> None:
    """Two kinds of servers, one whose password must be changed first; the emulator itself counts the requests."""
    found = _figures(tmp_path / "f.json", "inventory", "--bmcs", "2", "--personas", "hgx-h100,gb200-compute-tray")
    clients = {one["client"]: one for one in found["clients"]}
    assert list(clients) == [
        "bare aiohttp with $expand",
        "our sweep",
        "bare aiohttp, one GET per resource",
        "stock sushy in threads",
    ]
    assert all(one["bmcs"] == 2 and one["cpu_ms_per_bmc"] > 0 for one in clients.values())
    each = clients["bare aiohttp, one GET per resource"]["requests_per_bmc"]
    assert each == sum(found["resources"].values()) / 2 + 2, "and a login and a logout"
    assert clients["bare aiohttp with $expand"]["requests_per_bmc"] < each
    assert clients["stock sushy in threads"]["memory_mib_per_1000_bmcs"] is None
    assert found["ours_to_bare_expanded"] > 0
    assert found["sushy_to_ours"] > 0


def test_the_load_says_who_was_bound(tmp_path: Path) -> None:
    """One BMC and all of them, with TLS and without."""
    found = _figures(tmp_path / "f.json", "emulator", "--bmcs", "3", "--seconds", "0.5")
    assert [(one["bmcs"], one["tls"]) for one in found] == [(1, True), (3, True), (1, False), (3, False)]
    assert all(one["gets_per_second"] > 0 for one in found)
    assert all({"emulator_core_percent", "client_core_percent"} <= one.keys() for one in found)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("inventory", "--bmcs", "1", "--personas", "hgx-h10"), "hgx-h10"),
        (("emulator", "--bmcs", "1", "--persona", "hgx-h10"), "hgx-h10"),
        (("inventory", "--bmcs", "0"), "--bmcs"),
        (("emulator", "--seconds", "3600"), "--seconds"),
    ],
)
def test_a_bench_of_nothing_is_refused(arguments: tuple[str, ...], words: str) -> None:
    """Before anything runs, with what is wrong."""
    done = _bench(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("bench", ["inventory", "emulator"])
def test_without_the_emulator_there_is_a_remedy(bench: str) -> None:
    """It is an extra of the package: who has not installed it is told how."""
    command = [sys.executable, "-c", _WITHOUT_EMULATOR, "bench", bench, "--bmcs", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "install firstlight[emulator]" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_answer_that_is_no_200_is_no_figure() -> None:
    """A load that counts errors measures how fast errors are."""
    with EmulatedFleet([Bmc("hgx-h100")]) as fleet:
        bmc = fleet.bmcs[0]
        credentials = Credentials(bmc.username, Secret(bmc.password))
        target = Target(bmc.name, bmc.persona, BmcAddress(bmc.address, bmc.port), credentials, tls=True)
        known = {bmc.persona: Resources(("/redfish/v1/Systems", "/redfish/v1/NoSuchThing"), {}, expands=False)}
        with pytest.raises(BadInput, match="404"):
            load([target], known, connections=2, seconds=0.1, emulator=1)


def test_what_is_no_collection_and_no_member_is_read_by_itself() -> None:
    """A member comes with its collection where `$expand` is offered, and on its own where it is not."""
    root: dict[str, Any] = {"ProtocolFeaturesSupported": {"ExpandQuery": {"NoLinks": True, "Levels": True}}}
    documents = {
        "/redfish/v1": root,
        "/redfish/v1/Systems": {"Members": [{"@odata.id": "/redfish/v1/Systems/1"}]},
        "/redfish/v1/Systems/1": {"Id": "1"},
        "/redfish/v1/UpdateService": {"Id": "UpdateService"},
    }
    found = resources_in(documents)
    assert set(found.paths) == set(documents)
    assert found.expanded == (
        "/redfish/v1",
        "/redfish/v1/UpdateService",
        "/redfish/v1/Systems?$expand=.($levels=1)",
    )
    assert resources_in({**documents, "/redfish/v1": {}}).expanded == found.paths
