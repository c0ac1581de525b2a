"""Agents without a process: the node agent's protocol, spoken for a host that has booted. Source: images/agent."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from emulator.config import FaultSetting
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.agent_service import SESSION, TOKEN, AgentService
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer, digest_of

ROOT = b"the root, which is not run"
IMAGE = "sha256:" + "2" * 64
NAME = "r01-u01"
PLAN = [
    {"id": "cpu-1", "kind": "cpu", "parameters": {"seconds": 0.05}, "deadline_seconds": 30},
    {"id": "memory-1", "kind": "memory", "parameters": {"mebibytes": 1000, "passes": 1}, "deadline_seconds": 30},
    {"id": "disk-1", "kind": "disk", "parameters": {"mebibytes": 1000}, "deadline_seconds": 30},
    {"id": "gpu-1", "kind": "gpu", "parameters": {"seconds": 0.05}, "deadline_seconds": 30},
]


@contextmanager
def booted(
    items: list[dict[str, Any]] | None = None, faults: tuple[FaultSetting, ...] = ()
) -> Iterator[tuple[EmulatedFleet, AgentService]]:
    """A host that has booted into a stand-in, and the service that it talks to."""
    with (
        AgentService(PLAN if items is None else items) as service,
        BootServer() as server,
        EmulatedFleet([Bmc(faults=faults, power="On")], boot_service=server.url, agent="stand-in") as fleet,
    ):
        server.files[f"/{digest_of(ROOT)}"] = ROOT
        words = f"firstlight.server={service.url} firstlight.token={TOKEN} firstlight.image={IMAGE}"
        kernel = f"kernel /{digest_of(ROOT)} {words} firstlight.root={digest_of(ROOT)}"
        server.files["/boot/ipxe"] = f"#!ipxe\n{kernel}\nboot\n".encode()
        wait_for(lambda: service.told.registrations)
        yield fleet, service


def test_stand_in_registers_and_reports_a_healthy_server() -> None:
    """api/views/agent.py: registration, heartbeats and results as the service takes them."""
    with booted() as (fleet, service):
        wait_for(lambda: len(service.told.results) == len(PLAN))
        registered = service.told.registrations[0]
        assert registered.keys() == {"token", "boot_id", "image", "root", "version"}
        assert (registered["image"], registered["root"]) == (IMAGE, digest_of(ROOT))
        results = {result["item"]: result for result in service.told.results}
        assert list(results) == [item["id"] for item in PLAN]
        assert {result["status"] for result in results.values()} == {"pass"}
        assert {(result["run"], result["attempt"]) for result in results.values()} == {("run-1", 2)}
        assert results["cpu-1"]["metrics"]["threads"] == 128
        assert results["gpu-1"]["metrics"]["gpus"] == 8
        assert all(result["metrics"]["mismatches"] == 0 for result in results.values())
        truth = fleet.truth(NAME)
        assert (truth["agent_pid"], truth["agent_alive"], truth["booted_image"]) == (None, True, IMAGE)


def test_heartbeats_rise_and_say_what_runs() -> None:
    """A sequence that rises, also across restarts of the agent within one boot."""
    items = [{"id": "cpu-1", "kind": "cpu", "parameters": {"seconds": 1.5}, "deadline_seconds": 30}]
    with booted(items) as (fleet, service):
        wait_for(lambda: [beat for beat in service.told.heartbeats if beat["item"] == "cpu-1" and beat["percent"] > 20])
        fleet.act(NAME, "kill-agent")
        wait_for(lambda: len(service.told.registrations) == 2)
        seen = len(service.told.heartbeats)
        wait_for(lambda: len(service.told.heartbeats) > seen + 2)
        sequences = [beat["sequence"] for beat in service.told.heartbeats]
        assert sequences == sorted(set(sequences))
        assert len({beat["boot_id"] for beat in service.told.heartbeats}) == 1
        assert fleet.truth(NAME)["boots"] == 1


def test_stand_in_dies_with_the_power_of_its_host() -> None:
    """No host, no agent."""
    with booted([]) as (fleet, service):
        wait_for(lambda: service.told.heartbeats)
        assert BmcClient(fleet.bmcs[0]).reset("ForceOff").status_code == 204
        wait_for(lambda: not fleet.truth(NAME)["agent_alive"])
        time.sleep(0.3)
        seen = service.told.attempts
        time.sleep(1)
        assert service.told.attempts == seen


def test_results_wait_for_a_service_that_is_away() -> None:
    """images/agent/outbox.py: kept until the service has them."""
    with booted([]) as (_fleet, service):
        wait_for(lambda: service.told.heartbeats)
        service.items = PLAN[:1]
        wait_for(lambda: [beat for beat in service.told.heartbeats if beat["item"]] or service.told.results)
        service.status = 503
        time.sleep(1.5)
        service.status = 0
        wait_for(lambda: [result["item"] for result in service.told.results] == ["cpu-1"])
        assert len(service.told.registrations) == 1


def test_stand_in_whose_session_is_forgotten_registers_again() -> None:
    """images/agent/session.py: 401 renews the session."""
    with booted([]) as (_fleet, service):
        wait_for(lambda: service.told.heartbeats)
        service.forget()
        seen = len(service.told.heartbeats)
        wait_for(lambda: len(service.told.heartbeats) > seen + 1)
        assert len(service.told.registrations) == 2
        assert service.told.registrations[0] == service.told.registrations[1]


def test_stand_in_that_is_refused_is_started_again_slower_and_slower() -> None:
    """409: this boot is refused for good; its init tries again, as with a process."""
    with booted([]) as (fleet, service):
        service.status = 409
        seen = service.told.attempts
        time.sleep(3)
        assert seen < service.told.attempts < seen + 40
        assert fleet.truth(NAME)["boots"] == 1


@pytest.mark.parametrize(
    ("fault", "item", "status", "words"),
    [
        ({"burn-in-check-fails": {"check": "memory"}}, "memory-1", "fail", "expected"),
        ({"burn-in-check-fails": {"check": "disk-1"}}, "disk-1", "fail", "expected"),
        ({"gpu-missing": {"index": 3}}, "gpu-1", "fail", "fallen off the bus"),
    ],
)
def test_server_with_a_fault_fails_its_check(fault: FaultSetting, item: str, status: str, words: str) -> None:
    """The other checks pass."""
    with booted(faults=(fault,)) as (_fleet, service):
        wait_for(lambda: len(service.told.results) == len(PLAN))
        results = {result["item"]: result for result in service.told.results}
        assert {name for name, result in results.items() if result["status"] != "pass"} == {item}
        assert results[item]["status"] == status
        assert words in results[item]["evidence"]


def test_slow_gpu_is_slow_by_its_share_and_alone() -> None:
    """arXiv:2402.15627, 5.1: machines that compute slower than the others, and pass."""
    with booted(PLAN[3:], faults=({"slow-gpu": {"index": 5, "share": 0.8}},)) as (_fleet, service):
        wait_for(lambda: service.told.results)
        result = service.told.results[0]
        rates = [result["metrics"][f"tflops_gpu_{number}"] for number in range(8)]
        slow = rates.pop(5)
        assert result["status"] == "pass"
        assert 0.75 < slow / (sum(rates) / len(rates)) < 0.85


def test_check_that_is_unknown_or_broken_is_an_error() -> None:
    """images/agent/check_process.py: an error, not a fail."""
    items = [
        {"id": "a", "kind": "levitation", "parameters": {}, "deadline_seconds": 30},
        {"id": "b", "kind": "cpu", "parameters": {}, "deadline_seconds": 30},
        {"id": "c", "kind": "cpu", "parameters": {"seconds": 9}, "deadline_seconds": 0.1},
    ]
    with booted(items) as (_fleet, service):
        wait_for(lambda: len(service.told.results) == 3)
        assert [result["status"] for result in service.told.results] == ["error"] * 3
        assert "overrun" in service.told.results[2]["evidence"]


def test_no_secret_is_told_to_people() -> None:
    """Neither the boot token nor the session is in the truth, the log or the state."""
    with booted([]) as (fleet, service):
        wait_for(lambda: service.told.heartbeats)
        service.status = 500
        time.sleep(0.5)
        shown = json.dumps(fleet.truth(NAME)) + (fleet.directory / "log.txt").read_text()
        shown += "".join(path.read_text() for path in fleet.directory.rglob("*.json"))
        assert TOKEN not in shown
        assert SESSION not in shown
