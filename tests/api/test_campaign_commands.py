"""`firstlight firmware campaign` and `firstlight firmware drift` against a running service."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from provisioner.commands.firmware import firmware_app
from provisioner.errors import BadInput, FirstlightError
from provisioner.models.drift import DriftFinding, FindingKind
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.role import Role
from tests.api.site import N1, Site
from tests.api.test_campaigns import RELEASE, pool, steps

Run = Callable[..., str]


@pytest.fixture
def run(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Site, Run]:
    """A site, and a command line that finds it."""
    for name in ("FIRSTLIGHT_DATA_DIR", "FIRSTLIGHT_URL", "FIRSTLIGHT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "endpoint").write_text(f"{site.url}\n")
    (tmp_path / "admin-token").write_text(f"{site.tokens[Role.ADMIN]}\n")

    def firstlight(*words: str) -> str:
        result = CliRunner().invoke(firmware_app, [*words, "--data-dir", str(tmp_path)])
        if result.exception is not None:
            raise result.exception
        return result.output

    return site, firstlight


def test_a_campaign_on_the_command_line(run: tuple[Site, Run]) -> None:
    site, firstlight = run
    pool(site)
    begun = firstlight("campaign", "start", "spring", "--release", RELEASE, "--per-rack", "2", "--ready-within", "4h")
    assert begun == "spring: running; 2 waiting\n"
    steps(site)
    assert firstlight("campaign", "pause", "spring") == "spring: paused (paused by admin); 1 waiting, 1 moving\n"
    assert firstlight("campaign", "resume", "spring") == "spring: running; 1 waiting, 1 moving\n"
    shown = firstlight("campaign", "show", "spring")
    assert f"hgx-h100-8gpu to {RELEASE}: 1 canaries, then 2 of a rack and 16 of the site at once" in shown
    assert "each ready within 4 h" in shown
    assert "canary" in shown
    assert shown.splitlines()[-1].endswith("resumed by admin")
    listed = firstlight("campaign", "list").splitlines()
    assert "spring" in listed[-1]
    assert json.loads(firstlight("campaign", "list", "--json"))[0]["counts"]["moving"] == 1
    assert len(json.loads(firstlight("campaign", "show", "spring", "--json"))["members"]) == 2
    assert firstlight("campaign", "abort", "spring") == "spring: aborted (aborted by admin); 1 waiting, 1 moving\n"


def test_what_cannot_be_is_one_line(run: tuple[Site, Run]) -> None:
    _, firstlight = run
    with pytest.raises(FirstlightError, match="no campaign is called nothing"):
        firstlight("campaign", "show", "nothing")
    with pytest.raises(BadInput, match="--ready-within soon: write a number and a unit"):
        firstlight("campaign", "start", "x", "--release", RELEASE, "--ready-within", "soon")
    with pytest.raises(FirstlightError, match="there is no node of hgx-h100-8gpu"):
        firstlight("campaign", "start", "x", "--release", RELEASE)


def test_a_part_of_the_pool(run: tuple[Site, Run]) -> None:
    site, firstlight = run
    pool(site)
    assert firstlight("campaign", "start", "one", "--release", RELEASE, "--node", N1) == "one: running; 1 waiting\n"
    site.run(site.store.nodes.assign(N1, "hgx-h100-8gpu", ReleaseDigest("sha256:older")))
    assert site.node().state is State.READY


def test_drift_on_the_command_line(run: tuple[Site, Run]) -> None:
    site, firstlight = run
    assert firstlight("drift") == "0 findings; 0 nodes were read\n"
    found = DriftFinding(FindingKind.MIXED, N1, "gpu-vbios", "96.00", {"96.00": (N1,), "95.00": (N1,)})
    site.run(site.store.drift.stand([found], datetime.now(UTC)))
    told = firstlight("drift")
    assert f"{N1} is mixed: parts of gpu-vbios run 96.00, 95.00" in told
    assert told.endswith("1 findings; 0 nodes were read\n")
    assert json.loads(firstlight("drift", "--json"))["findings"][0]["kind"] == "mixed"
