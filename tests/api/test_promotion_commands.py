"""`firstlight release`, `promote` and `channel` against a running service."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from provisioner.commands.channel import channel_app
from provisioner.commands.promote import promote_app
from provisioner.commands.release import release_app
from provisioner.errors import BadInput, FirstlightError, NotFound
from provisioner.models.role import Role
from tests.api.promoting import made, post, requested, soaked, whole_evidence
from tests.api.site import Site
from tests.promotion.samples import H100

Run = Callable[..., Result]
PROFILE = "hgx-h100-2025-1"


@pytest.fixture
def run(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A command line that finds the site, as its administrator."""
    for name in ("FIRSTLIGHT_DATA_DIR", "FIRSTLIGHT_URL", "FIRSTLIGHT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "endpoint").write_text(f"{site.url}\n")
    (tmp_path / "admin-token").write_text(f"{site.tokens[Role.ADMIN]}\n")

    def firstlight(app: typer.Typer, *words: str) -> Result:
        result = CliRunner().invoke(app, [*words, "--data-dir", str(tmp_path)])
        if isinstance(result.exception, FirstlightError):
            raise result.exception
        return result

    return firstlight


def test_releases_are_made_listed_shown_and_compared(run: Run) -> None:
    one = json.loads(run(release_app, "create", PROFILE, "--json").output)
    shown = run(release_app, "create", "hgx-h100-2026-1", "--follows", PROFILE, "--no-firmware-downgrade").output
    assert f"from releases: ['{one['digest']}']; firmware downgrade: False" in shown
    assert "firmware may go back  " in shown
    listed = run(release_app, "list").output.splitlines()
    assert [line.split()[0] for line in listed[1:]] == ["hgx-h100-2026-1", PROFILE]
    assert "by admin" in run(release_app, "show", one["digest"][7:15]).output
    differing = run(release_app, "diff", PROFILE, "hgx-h100-2026-1").output
    assert "firmware" in differing
    assert "nvswitch" in differing
    assert "burn-in" not in differing
    assert run(release_app, "diff", PROFILE, one["digest"]).output == "they have the same content\n"
    with pytest.raises(NotFound, match="release create"):
        run(release_app, "show", "nothing")
    with pytest.raises(FirstlightError, match="there is no release profile hgx"):
        run(release_app, "create", "hgx")


def test_a_promotion_shows_each_gate_and_what_to_do(site: Site, run: Run) -> None:
    made(site)
    shown = run(promote_app, "request", PROFILE, "--channel", "canary", "--reason", "spring").output
    assert "to canary of hgx-h100-8gpu: checking; missing: signatures, sbom, soak, second person" in shown
    assert "    do: run `firstlight keys init DIR`" in shown
    assert "✔ compatibility: the pool runs nothing yet" in shown
    name = shown.partition(":")[0]
    assert run(promote_app, "list", "--state", "checking").output.splitlines()[1].split()[0] == name
    asked = run(promote_app, "waive", name, "--gate", "soak", "--reason", "lab", "--for", "12h").output
    assert asked.startswith(f"{name}: {PROFILE} to canary")
    assert "admin asks for a waiver of soak until" in run(promote_app, "show", name).output
    with pytest.raises(BadInput, match="--for soon"):
        run(promote_app, "waive", name, "--gate", "soak", "--reason", "lab", "--for", "soon")
    rejected = run(promote_app, "reject", name, "--reason", "not this week").output
    assert "rejected (rejected by admin: not this week)" in rejected
    with pytest.raises(FirstlightError, match="request it again"):
        run(promote_app, "cancel", name)


def test_to_wait_ends_when_it_is_applied(site: Site, run: Run) -> None:
    """Somebody else approves it meanwhile."""
    digest = made(site)
    whole_evidence(site)
    soaked(site, digest)
    asked = requested(site, digest, "canary")
    approve = threading.Timer(1.5, post, (site, f"/v1/promotions/{asked['id']}:approve", None, Role.APPROVER))
    approve.start()
    result = run(promote_app, "show", asked["id"], "--wait")
    approve.join()
    assert result.exit_code == 0
    assert "approved by approver" in result.output
    assert "by statement sha256:" in result.output
    assert json.loads(run(promote_app, "show", asked["id"], "--json").output)["state"] == "applied"


def test_to_wait_for_one_that_was_cancelled_exits_1(site: Site, run: Run) -> None:
    asked = requested(site, made(site), "canary")
    post(site, f"/v1/promotions/{asked['id']}:cancel", role=Role.OPERATOR)
    assert run(promote_app, "show", asked["id"], "--wait").exit_code == 1


def test_channels_are_listed_shown_and_rolled_back(site: Site, run: Run) -> None:
    old, new = made(site), made(site, firmware_downgrade=False)
    for digest in (old, new):
        run(promote_app, "request", digest, "--channel", "dev", "--reason", "spring")
    assert run(channel_app, "list").output.splitlines()[1].split()[:3] == ["dev", H100, new[:19]]
    assert f"may be rolled back to {old}" in run(channel_app, "show", "dev", "--class", H100).output
    back = run(channel_app, "rollback", "dev", "--class", H100, "--reason", "it is bad").output
    assert back.startswith(f"dev of {H100} stands at {old}")
    assert f"{old[:19]} by admin, rollback: it is bad" in back
    with pytest.raises(BadInput, match="no earlier release"):
        run(channel_app, "rollback", "dev", "--class", H100, "--reason", "again")
    with pytest.raises(NotFound, match="nothing has been promoted to canary"):
        run(channel_app, "show", "canary", "--class", H100)
