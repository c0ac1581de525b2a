"""Tokens over HTTP and by command."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from provisioner.commands.token import token_app
from provisioner.errors import FirstlightError, NotFound
from provisioner.models.role import Role
from tests.api.site import N1, Site

Run = Callable[..., Result]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_is_shown_once(site: Site) -> None:
    made = site.post("/v1/tokens", json={"name": "ci", "role": "image-owner", "expires_in_days": 90})
    assert made.status_code == 201
    token = made.json()["token"]
    assert site.get("/v1/nodes", role=None, headers=bearer(token)).status_code == 200
    listed = site.get("/v1/tokens")
    assert token not in listed.text
    one = next(one for one in listed.json()["tokens"] if one["name"] == "ci")
    assert token.startswith(one["prefix"])
    assert (one["scopes"], one["narrowed"]) == (["build", "promote.request"], False)
    assert one["expires_at"] > one["created_at"]
    assert one["last_used_at"] is not None
    assert site.post("/v1/tokens", json={"name": "ci", "role": "admin"}).status_code == 409
    assert site.request("DELETE", "/v1/tokens/ci").status_code == 204
    assert site.get("/v1/nodes", role=None, headers=bearer(token)).status_code == 401


def test_a_narrowed_token_reads_and_does_nothing_that_its_role_alone_would_allow(site: Site) -> None:
    body = {"name": "brake", "role": "operator", "scopes": ["emergency.stop"]}
    token = site.post("/v1/tokens", json=body).json()["token"]
    assert site.get("/v1/nodes", role=None, headers=bearer(token)).status_code == 200
    refused = site.post(f"/v1/nodes/{N1}/hold", role=None, headers=bearer(token), json={"reason": "x"})
    assert refused.status_code == 403
    assert refused.json()["detail"] == "this needs a token that is not narrowed to emergency.stop"


def test_a_scope_that_the_role_does_not_have_is_refused_where_it_stands(shared_site: Site) -> None:
    body = {"name": "x", "role": "technician", "scopes": ["rollout.operate"]}
    problem = shared_site.post("/v1/tokens", json=body).json()
    assert problem["status"] == 422
    told = "role technician does not have rollout.operate: narrow it to some of emergency.stop"
    assert problem["errors"] == [{"in": "body", "pointer": "#/scopes", "detail": f"Value error, {told}"}]


@pytest.fixture
def run(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line with the administrator's token."""
    monkeypatch.setenv("FIRSTLIGHT_URL", site.url)
    monkeypatch.setenv("FIRSTLIGHT_TOKEN", site.tokens[Role.ADMIN])
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(token_app, words)


def test_the_command_prints_the_token_alone(site: Site, run: Run) -> None:
    made = run("create", "brake", "--role", "operator", "--scope", "emergency.stop", "--expires", "30")
    assert made.exit_code == 0, made.exception
    token = made.stdout.strip()
    assert made.stderr.startswith("brake: operator, only emergency.stop, until 20")
    assert site.get("/v1/nodes", role=None, headers=bearer(token)).status_code == 200
    listed = run("list").stdout
    assert token not in listed
    assert "brake" in listed
    assert "operator, only emergency.stop" in listed
    assert run("revoke", "brake").stdout == "brake: revoked\n"
    assert site.get("/v1/nodes", role=None, headers=bearer(token)).status_code == 401
    assert isinstance(run("revoke", "brake").exception, NotFound)


def test_a_second_token_of_one_name_is_refused(run: Run) -> None:
    assert run("create", "ci", "--role", "admin").exit_code == 0
    again = run("create", "ci", "--role", "admin")
    assert isinstance(again.exception, FirstlightError)
    assert "revoke it first" in str(again.exception)
