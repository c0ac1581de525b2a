"""Everything that people change over the API leaves a line."""

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests
import structlog
from typer.testing import CliRunner, Result

from profiles.release import Release
from provisioner.commands.audit import audit_app
from provisioner.errors import BadInput
from provisioner.models.audit import AuditEntry
from provisioner.models.lifecycle import State
from provisioner.models.role import Role
from tests.api.permissions import BODIES, BY_ROLE
from tests.api.site import N1, Site

Run = Callable[..., Result]
NODE = f"/v1/nodes/{N1}"


ELSEWHERE = (
    "GET",
    "POST /v1/profiles:",
    "POST /v1/builds",
    "POST /v1/webhooks",
    "DELETE /v1/webhooks",
    "POST /v1/operations",
    "POST /v1/rollouts",
    "POST /v1/releases",
    "POST /v1/promotions",
    "POST /v1/channels",
)
"""What changes nothing, and what the tests of its own noun look at."""


def lines(site: Site) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = site.get("/v1/audit").json()["lines"]
    return found


def last(site: Site) -> dict[str, Any]:
    return lines(site)[-1]


def prepare(site: Site) -> Release:
    """N1 is of a hardware class, and held."""
    release = site.release()
    site.run(site.store.certificates.pin(str(site.node().bmc), "ab12"))
    good(site.post(f"{NODE}/hold", json={"reason": "cable"}))
    return release


def good(response: requests.Response) -> dict[str, Any]:
    assert response.status_code in {200, 201, 204}, response.text
    answer: dict[str, Any] = response.json() if response.content else {}
    return answer


def test_each_route_that_changes_something_writes_one_line(site: Site) -> None:
    """A new one without its line here fails the comparison at the end."""
    old = prepare(site)
    tried = {"POST /v1/nodes/{name}/hold"}
    assert last(site)["what"] == "node.hold"

    def step(route: str, what: str, subject: str = N1, role: Role = Role.OPERATOR) -> dict[str, Any]:
        before = len(lines(site))
        method, path = route.split()
        good(site.request(method, path.format(name=subject), json=BODIES.get(route), role=role))
        assert len(lines(site)) == before + 1, route
        line = last(site)
        assert (line["who"], line["what"], line["subject"]) == (role, what, subject)
        assert line["request"].startswith("urn:uuid:")
        tried.add(route)
        return line

    step("POST /v1/nodes/{name}/release", "node.release")
    step("POST /v1/nodes/{name}/password", "node.password")
    assert step("POST /v1/nodes/{name}/trust", "node.trust")["before"] == "sha256:ab12"
    reimaged = step("POST /v1/nodes/{name}/reimage", "node.reimage")
    assert (reimaged["before"], reimaged["after"]) == (old.digest, site.node().release)
    started = step("POST /v1/campaigns", "campaign.start", "spring")
    assert started["after"] == site.run(site.store.campaigns.get("spring")).digest
    for verb in ("pause", "resume", "abort"):
        step(f"POST /v1/campaigns/{{name}}/{verb}", f"campaign.{verb}", "spring")
    site.move(State.READY)
    for verb in ("hand-over", "take-back"):
        step(f"POST /v1/nodes/{{name}}/{verb}", f"node.{verb}")
    made = step("POST /v1/tokens", "token.create", "phone-7", Role.ADMIN)
    assert made["evidence"] == ["technician"]
    step("DELETE /v1/tokens/{name}", "token.revoke", "phone-7", Role.ADMIN)
    assert tried == {route for route in BY_ROLE if not route.startswith(ELSEWHERE)}
    assert [line["number"] for line in lines(site)] == list(range(1, len(tried) + 1))


def test_what_changes_nothing_writes_no_line(site: Site) -> None:
    prepare(site)
    good(site.post("/v1/campaigns", json=BODIES["POST /v1/campaigns"]))
    good(site.post("/v1/campaigns/spring/pause"))
    release = BODIES["POST /v1/nodes/{name}/reimage"]
    good(site.post(f"{NODE}/reimage", json=release))
    before = len(lines(site))
    good(site.post("/v1/campaigns", json=BODIES["POST /v1/campaigns"]))
    good(site.post("/v1/campaigns/spring/pause"))
    good(site.post(f"{NODE}/reimage", json=release))
    assert site.post(f"{NODE}/release").status_code == 409
    assert site.post(f"{NODE}/hold", json={"reason": "x"}, role=Role.APPROVER).status_code == 403
    assert len(lines(site)) == before


def test_no_secret_is_in_it(site: Site) -> None:
    prepare(site)
    good(site.post(f"{NODE}/password", json={"username": "ADMIN", "password": "on-the-label"}))
    told = site.get("/v1/audit").text
    assert "node.password" in told
    assert not [secret for secret in ("on-the-label", *site.tokens.values()) if secret in told]


def test_the_request_is_in_the_service_s_log_too(site: Site) -> None:
    with structlog.testing.capture_logs() as captured:
        good(site.post(f"{NODE}/hold", json={"reason": "cable"}))
        ends = time.monotonic() + 10  # the line follows the answer
        while not (answered := [one for one in captured if one["event"] == "request_answered"]):
            assert time.monotonic() < ends
            time.sleep(0.01)
    assert [one.get("instance") for one in answered] == [last(site)["request"]]


def test_it_comes_page_by_page(site: Site) -> None:
    entry = AuditEntry(datetime.now(UTC), "anna", "node.hold", N1)
    for _ in range(5):
        site.run(site.store.audit.record(entry))
    numbers, cursor = [], ""
    for size in (2, 2, 1):
        page = site.get(f"/v1/audit?limit=2{cursor}").json()
        assert len(page["lines"]) == size
        numbers += [line["number"] for line in page["lines"]]
        cursor = f"&cursor={page['next']}"
    assert (numbers, page["next"]) == ([1, 2, 3, 4, 5], None)
    site.run(site.store.audit.record(entry))
    assert site.get("/v1/audit?limit=5").json()["next"] is not None


@pytest.mark.parametrize(
    "query", ["cursor=x", "cursor=LTE", "cursor=OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "limit=0", "limit=501"]
)
def test_a_wrong_page_is_refused(shared_site: Site, query: str) -> None:
    assert shared_site.get(f"/v1/audit?{query}").status_code == 422


@pytest.fixture
def run(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in a directory that holds the service's data directory."""
    for name in ("FIRSTLIGHT_DATA_DIR", "FIRSTLIGHT_URL", "FIRSTLIGHT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "firstlight-data"
    data.mkdir()
    (data / "endpoint").write_text(f"{site.url}\n")
    (data / "admin-token").write_text(f"{site.tokens[Role.ADMIN]}\n")

    def run(*words: str, typed: str = "") -> Result:
        return CliRunner().invoke(audit_app, words, input=typed)

    return run


def test_an_exported_log_is_verified_without_the_service(site: Site, run: Run, tmp_path: Path) -> None:
    prepare(site)
    good(site.post(f"{NODE}/release"))
    assert run("export", "--out", "log.jsonl").exit_code == 0
    text = (tmp_path / "log.jsonl").read_text()
    assert run("export").output == text
    assert [json.loads(line)["what"] for line in text.splitlines()] == ["node.hold", "node.release"]
    head = json.loads(text.splitlines()[-1])["digest"]
    whole = f"2 lines, none changed, missing or moved; the last one is {head}\n"
    assert run("verify", "log.jsonl", "--url", "http://127.0.0.1:1").output == f"log.jsonl: {whole}"
    assert run("verify", "-", typed=text).output == f"-: {whole}"
    assert run("verify", "--head", head).output == f"the service's log: {whole}"


def test_a_changed_line_is_named_and_ends_with_1(site: Site, run: Run, tmp_path: Path) -> None:
    prepare(site)
    run("export", "--out", "log.jsonl")
    path = tmp_path / "log.jsonl"
    path.write_text(path.read_text().replace('"who":"admin"', '"who":"eve"'))
    result = run("verify", "log.jsonl")
    assert result.exit_code == 1
    changed = "entry 1 (node.hold r01-u01 by eve) was changed: its digest does not fit its content"
    assert result.output == f"log.jsonl, line 1: {changed}\n"
    assert run("verify", "--head", "sha256:0").exit_code == 1


def test_wrong_files_are_refused_with_their_names(site: Site, run: Run, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"\xff")
    for words in (("export", "--out", "there"), ("verify", "absent"), ("verify", "there")):
        result = run(*words)
        assert isinstance(result.exception, BadInput)
        assert words[-1] in str(result.exception)
    assert site.node().release is None
