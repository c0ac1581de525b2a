"""The agent's API: first by hand, then with the real agent."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import requests

from provisioner.models.boot import BootTicket
from provisioner.models.burn_in import ResultStatus
from provisioner.models.identifiers import RunKey
from provisioner.models.lifecycle import State
from provisioner.operations.burn_in import open_run
from tests.api.booting import ticket_of
from tests.api.site import N1, Site

BOOT_ID = "0f5c4c2e-6f0f-4a44-9a53-1d2f6f4f5a6b"
RESULT = {
    "item": "cpu",
    "status": "pass",
    "started_at": "2026-11-30T12:00:00.000+00:00",
    "finished_at": "2026-11-30T12:00:01.000+00:00",
    "metrics": {"operations_per_second": 1e9, "mismatches": 0},
    "evidence": "all well\n\0",
}


def registration(site: Site, ticket: BootTicket, **other: str) -> dict[str, str]:
    root = site.files.image.artefact("root").digest
    body = {"token": ticket.token.reveal(), "boot_id": BOOT_ID, "image": ticket.image, "root": root, "version": "0.1.0"}
    return body | other


def call(site: Site, session: str, method: str, path: str, body: Any = None) -> requests.Response:
    headers = {"Authorization": f"Bearer {session}"}
    return site.request(method, f"/v1/agent/{path}", None, headers=headers, json=body)


def burning_in(site: Site) -> str:
    """Open a burn-in run; its id."""
    node = site.move(State.BURNING_IN)
    key = RunKey("burn_in", N1, node.generation, node.attempt)
    site.run(open_run(site.service.world, key))
    return key.id


def test_from_registration_to_the_last_result(site: Site) -> None:
    ticket = ticket_of(site)
    first = site.post("/v1/agent/register", role=None, json=registration(site, ticket))
    assert first.status_code == 200
    assert first.json()["node"] == "r01-u01"
    assert 0 < first.json()["heartbeat_seconds"] <= 1
    again = site.post("/v1/agent/register", role=None, json=registration(site, ticket))
    assert again.json() == first.json()
    session = first.json()["session"]
    assert ("boot/r01-u01/g1/a1", "agent") in site.runs.signals
    assert site.node().observed_image == ticket.image

    assert call(site, session, "GET", "plan").status_code == 204
    run = burning_in(site)
    plan = call(site, session, "GET", "plan").json()
    assert (plan["run"], plan["attempt"]) == (run, 1)
    assert [item["id"] for item in plan["items"]] == [item["kind"] for item in plan["items"]]
    assert plan["items"][0]["deadline_seconds"] >= 30

    beat = {"boot_id": BOOT_ID, "sequence": 7, "run": run, "item": "cpu", "percent": 12.5, "uptime_seconds": 60.1}
    assert call(site, session, "POST", "heartbeats", beat).status_code == 204
    kept = site.run(site.store.burn_ins.heartbeat(N1))
    assert kept is not None
    assert (kept.item, kept.percent) == ("cpu", 12.5)

    for item in plan["items"]:
        body = {**RESULT, "run": run, "attempt": 1, "item": item["id"]}
        assert [call(site, session, "POST", "results", body).status_code for _ in range(2)] == [204, 204]
    results = site.run(site.store.burn_ins.results(run))
    assert [one.item for one in results] == [item["id"] for item in plan["items"]]
    assert results[0].evidence == "all well\n\N{REPLACEMENT CHARACTER}"
    assert (run, "burn-in") in site.runs.signals
    assert call(site, session, "GET", "plan").status_code == 204
    assert site.get("/v1/nodes/r01-u01").json()["burn_in"]["results"][0]["metrics"]["mismatches"] == 0


def test_a_used_token_and_a_wrong_one(site: Site) -> None:
    ticket = ticket_of(site)
    assert site.post("/v1/agent/register", role=None, json=registration(site, ticket)).status_code == 200
    other = site.post("/v1/agent/register", role=None, json=registration(site, ticket, boot_id="another"))
    assert (other.status_code, other.headers["Content-Type"]) == (409, "application/problem+json")
    wrong = site.post("/v1/agent/register", role=None, json=registration(site, ticket, token="guessed"))
    assert (wrong.status_code, wrong.json()["type"]) == (401, "urn:firstlight:problem:unauthorized")
    assert ticket.token.reveal() not in other.text


@pytest.mark.parametrize("session", ["", "r01-u01", "r01-u01:", "r01-u01:" + "0" * 64, "nobody:x", ":", "r01-u01:\xfc"])
def test_a_wrong_session(site: Site, session: str) -> None:
    ticket = ticket_of(site)
    assert call(site, session, "GET", "plan").status_code == 401  # before anybody registered
    site.post("/v1/agent/register", role=None, json=registration(site, ticket))
    response = call(site, session, "GET", "plan")
    assert response.status_code == 401
    assert response.headers["Content-Type"] == "application/problem+json"


def test_results_of_something_else_are_refused(site: Site) -> None:
    session = site.post("/v1/agent/register", role=None, json=registration(site, ticket_of(site))).json()["session"]
    run = burning_in(site)
    body = {**RESULT, "run": "burn_in/r01-u01/g1/a9", "attempt": 9}
    assert call(site, session, "POST", "results", body).status_code == 404
    for change in (
        {"status": "skipped"},
        {"started_at": "2026-11-30T12:00:00"},
        {"metrics": {"x": "fast"}},
        {"evidence": "x" * (16 * 1024 + 1)},
        {"metrics": {str(number): 1 for number in range(201)}},
        {"gpu": 1},
    ):
        assert call(site, session, "POST", "results", {**RESULT, "run": run, "attempt": 1, **change}).status_code == 422
    not_a_number = json.dumps({**RESULT, "run": run, "attempt": 1, "metrics": {"x": float("nan")}})
    headers = {"Authorization": f"Bearer {session}", "Content-Type": "application/json"}
    response = site.request("POST", "/v1/agent/results", None, headers=headers, data=not_a_number)
    assert response.status_code == 422


def test_the_longest_evidence_fits(site: Site) -> None:
    """16 KiB of control characters are 96 KiB of JSON: a result that is refused would be measured again for ever."""
    session = site.post("/v1/agent/register", role=None, json=registration(site, ticket_of(site))).json()["session"]
    body = {**RESULT, "run": burning_in(site), "attempt": 1, "evidence": "\x01" * 16 * 1024}
    assert call(site, session, "POST", "results", body).status_code == 204


def test_the_real_agent_goes_through_its_plan(site: Site, tmp_path: Path) -> None:
    """What firmware does: ask, fetch the root, check it, run it. The agent does the rest."""
    ticket = ticket_of(site)
    site.release(heartbeat=timedelta(milliseconds=200))
    script = site.request("GET", f"/boot/{ticket.key.reveal()}", None).text
    _, _, _, url, *words = script.splitlines()[2].split()
    root = tmp_path / "root.pyz"
    root.write_bytes(requests.get(url, timeout=10).content)
    command = [sys.executable, "-I", str(root), *words, f"firstlight.boot_id={BOOT_ID}"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as agent:
        try:
            _wait(lambda: site.run(site.store.boots.latest(N1)).registered_at)  # type: ignore[union-attr]
            run = burning_in(site)
            _wait(lambda: len(site.run(site.store.burn_ins.results(run))) == 3)
            _wait(lambda: site.run(site.store.burn_ins.heartbeat(N1)))
        finally:
            agent.terminate()
            said = agent.communicate(timeout=10)[1]
    results = site.run(site.store.burn_ins.results(run))
    assert {(one.item, one.status) for one in results} == {
        ("cpu", ResultStatus.PASS),
        ("memory", ResultStatus.PASS),
        ("disk", ResultStatus.PASS),
    }
    used = site.run(site.store.boots.latest(N1))
    assert used is not None
    assert (used.booted_image, used.booted_root) == (ticket.image, ticket.root)
    assert ticket.token.reveal() not in said


def _wait(condition: Callable[[], object], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)
