"""The journal of firmware updates, over HTTP and on the command line."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from profiles.firmware.component import Activation
from provisioner.commands.firmware import firmware_app
from provisioner.firmware.phase import Change, Phase, Planned
from provisioner.models.role import Role
from tests.api.site import N1, Site

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
app = typer.Typer()
app.add_typer(firmware_app, name="firmware")


@pytest.fixture
def flashed(site: Site) -> Site:
    """A node whose BIOS is on its way and whose BMC is done."""
    what = [
        Planned("bmc", "11.03.18", "sha256:bb", Activation.BMC_RESET),
        Planned("bios", "2.5", "sha256:aa", Activation.HOST_RESET, "BIOS"),
    ]
    bmc, bios = site.run(site.store.journal.plan(N1, what, NOW))
    (bios,) = site.run(site.store.journal.move([bios], Change(Phase.PREFLIGHT, NOW)))
    site.run(site.store.journal.send([bios], Change(Phase.UPLOADED, NOW, "sending bios.fw"), NOW, []))
    site.run(site.store.journal.move([bmc], Change(Phase.DONE, NOW, "runs already: BMC", seen=True)))
    return site


def test_the_journal_says_how_far_each_update_has_come(flashed: Site) -> None:
    answer = flashed.get("/v1/nodes/r01-u01/firmware").json()
    assert [(one["component"], one["part"], one["phase"], one["reason"]) for one in answer["updates"]] == [
        ("bmc", None, "done", "runs already: BMC"),
        ("bios", "BIOS", "uploaded", "sending bios.fw"),
    ]
    assert [one["phase"] for one in answer["updates"][1]["changes"]] == ["planned", "preflight", "uploaded"]
    assert answer["updates"][0]["changes"][-1]["seen"] is True


def test_a_journal_of_nobody(site: Site) -> None:
    assert site.get("/v1/nodes/nobody/firmware").status_code == 404
    assert site.get("/v1/nodes/r01-u02/firmware").json() == {"node": "r01-u02", "updates": []}
    assert site.get("/v1/nodes/r01-u02/firmware", role=None).status_code == 401


def test_the_command_shows_the_same(flashed: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FIRSTLIGHT_TOKEN", flashed.tokens[Role.ADMIN])
    monkeypatch.chdir(tmp_path)
    shown = CliRunner().invoke(app, ["firmware", "journal", "r01-u01", "--url", flashed.url], env={"COLUMNS": "200"})
    assert shown.exit_code == 0, shown.output
    assert "bios (BIOS)" in shown.output
    assert "sending bios.fw" in shown.output
    steps = CliRunner().invoke(app, ["firmware", "journal", "r01-u01", "--steps", "--url", flashed.url])
    assert steps.output.count("preflight") == 1
    empty = CliRunner().invoke(app, ["firmware", "journal", "r01-u02", "--url", flashed.url])
    assert "nothing was ever flashed on r01-u02" in empty.output
