"""The command line against a running service."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
import typer
from typer.testing import CliRunner, Result

from provisioner.commands.node import node_app
from provisioner.commands.plan import plan
from provisioner.errors import BadInput, FirstlightError
from provisioner.models.burn_in import BurnInRun, CheckResult, ResultStatus
from provisioner.models.role import Role
from provisioner.models.secret import Credentials, Secret
from tests.api.site import N1, Site
from tests.api.small_bmcs import SmallBmc
from tests.api.test_nodes import BMC, INVENTORY

Run = Callable[..., Result]

app = typer.Typer()
app.add_typer(node_app, name="node")
app.command("plan")(plan)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Commands find nothing but what a test gives them."""
    for name in ("FIRSTLIGHT_DATA_DIR", "FIRSTLIGHT_URL", "FIRSTLIGHT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(site: Site, tmp_path: Path) -> Run:
    """Run a command line in a directory that holds the service's data directory."""
    data = tmp_path / "firstlight-data"
    data.mkdir()
    (data / "endpoint").write_text(f"{site.url}\n")
    (data / "admin-token").write_text(f"{site.tokens[Role.ADMIN]}\n")

    def run(*words: str, answers: str = "") -> Result:
        return CliRunner().invoke(app, words, input=answers)

    return run


def good(result: Result) -> str:
    assert result.exception is None, result.output
    assert "\x1b[" not in result.output  # no colours but on a terminal
    return result.output


def refused(result: Result) -> str:
    """Return the one line that main() prints to stderr before it exits with 1."""
    assert isinstance(result.exception, FirstlightError)
    assert not isinstance(result.exception, BadInput)
    text = str(result.exception)
    assert "\n" not in text
    return text


def test_list(run: Run, site: Site) -> None:
    site.post("/v1/nodes/r01-u02/hold", json={"reason": "cable [red]loose[/]"})
    lines = good(run("node", "list")).splitlines()
    assert lines[0].split()[:4] == ["node", "place", "state", "for"]
    first, second = lines[-2:]
    assert first.startswith("r01-u01  r01/1")
    assert "● discovered" in first
    assert "123 min" in first or "2 h" in first
    assert "finding out which server this is" in first
    assert "● held" in second
    assert second.rstrip().endswith("operator")
    held = json.loads(good(run("node", "list", "--held", "--json")))
    assert [one["name"] for one in held] == ["r01-u02"]
    assert held[0]["hold"]["reason"] == "cable [red]loose[/] (held by admin)"
    assert "r01-u02" not in good(run("node", "list", "--state", "discovered", "--rack", "r01"))


def test_why(run: Run) -> None:
    text = good(run("node", "why", "r01-u01"))
    assert re.match(r"r01-u01 has been discovered for \d s: finding out which server this is\. Nothing to do;", text)
    assert "rack r01, position 1 (r01-u01)" in text
    good(run("node", "hold", "r01-u01", "--reason", "water"))
    text = good(run("node", "why", "r01-u01"))
    assert re.match(r"r01-u01 has been held for \d s: it waits for an operator\.", text)
    for line in ("seen       water (held by admin)", "done when  it is released"):
        assert line in text
    assert text.splitlines()[-1].split()[2:] == ["held", "water", "(held", "by", "admin)"]


def test_hold_and_release(run: Run) -> None:
    assert good(run("node", "hold", "r01-u01", answers="cable\n")).endswith("r01-u01: held; cable (held by admin)\n")
    assert good(run("node", "release", "r01-u01")).startswith("r01-u01: discovered; ")
    assert refused(run("node", "release", "r01-u01")) == "r01-u01 is not held; it is discovered"


def test_the_password_is_asked_for_and_not_shown(run: Run, site: Site) -> None:
    result = run("node", "password", "r01-u01", "--username", "ADMIN", answers="from the label\n")
    assert "from the label" not in good(result)
    assert site.run(site.store.vault.current(N1)) == Credentials("ADMIN", Secret("from the label"))
    assert run("node", "password", "r01-u01", "--password", "x").exit_code == 2


def test_trust(run: Run) -> None:
    assert good(run("node", "trust", "r01-u02")).startswith("r01-u02: discovered")


def test_show(run: Run, site: Site) -> None:
    site.run(site.store.documents.put_inventory(N1, INVENTORY, datetime.now(UTC)))
    began = datetime.now(UTC) - timedelta(minutes=4)
    site.run(site.store.burn_ins.open(BurnInRun("burn_in/r01-u01/g1/a1", N1, 1, "line-quick", began)))
    evidence = "many lines\n" * 50 + "\x1b[31mmismatch at 0x10\x1b[0m"
    result = CheckResult(
        "burn_in/r01-u01/g1/a1", 1, "memory", ResultStatus.FAIL, began, datetime.now(UTC), {"mismatches": 2}, evidence
    )
    site.run(site.store.burn_ins.record(result))
    text = good(run("node", "show", "r01-u01"))
    assert "2 x H100" in text
    assert "2048 GiB, x86_64, power On" in text
    assert "BMC_0" in text
    assert "memory  fail    4 min  mismatches 2" in text
    assert "\N{REPLACEMENT CHARACTER}[31mmismatch at 0x10" in text
    assert text.count("many lines") < 12


def test_plan(run: Run, site: Site) -> None:
    text = good(run("plan", "r01-u01"))
    assert "no release yet: only the way to one is known: about 6 min on real hardware, 0 host resets" in text
    site.release()
    assert "pull-out label" in refused(run("plan", "r01-u01"))
    site.run(site.store.vault.put_factory(N1, Credentials("ADMIN", Secret("x"))))
    assert refused(run("plan", "r01-u01")).startswith("127.20.1.1:8443: no answer for 30 s (urn:uuid:")
    site.bmcs.bmc = SmallBmc((BMC,))
    text = good(run("plan", "r01-u01"))
    assert "refused: " in text
    assert "release hgx-h100-2025-1" in text


def test_unknown_names_and_words(run: Run) -> None:
    assert refused(run("node", "why", "r99-u99")) == "no node is called r99-u99"
    assert refused(run("node", "why", "../../metrics")) == "nothing is at this path"
    assert "should match pattern" in refused(run("node", "why", "r01 u01"))
    assert run("node", "why").exit_code == 2
    assert run("node", "list", "--state", "lost").exit_code == 2
    assert run("node", "explode", "r01-u01").exit_code == 2


def test_where_no_service_is(run: Run, site: Site, tmp_path: Path) -> None:
    other = refused(run("node", "list", "--data-dir", "elsewhere"))
    assert other.startswith("elsewhere/endpoint: no service has been started there: start it with `firstlight serve")
    site.stop()
    (tmp_path / "firstlight-data" / "endpoint").write_text("http://127.0.0.1:9")
    gone = refused(run("node", "list"))
    assert gone.startswith("http://127.0.0.1:9: no service answers (")
    assert "firstlight serve" in gone
    wrong = run("node", "list", "--url", "localhost:8410")
    assert isinstance(wrong.exception, BadInput)


def test_the_environment(run: Run, site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "firstlight-data" / "admin-token").unlink()
    assert "set FIRSTLIGHT_TOKEN" in refused(run("node", "list"))
    monkeypatch.setenv("FIRSTLIGHT_TOKEN", "wrong")
    assert "the token is not accepted" in refused(run("node", "list"))
    monkeypatch.setenv("FIRSTLIGHT_TOKEN", site.tokens[Role.TECHNICIAN])
    assert "r01-u01" in good(run("node", "list"))
    assert refused(run("node", "trust", "r01-u01")) == "this needs another role than technician"
    monkeypatch.chdir("/")
    assert "endpoint" in refused(run("node", "list"))
    monkeypatch.setenv("FIRSTLIGHT_DATA_DIR", str(tmp_path / "firstlight-data"))
    assert "r01-u01" in good(run("node", "list"))
    monkeypatch.setenv("FIRSTLIGHT_URL", "http://127.0.0.1:9")
    assert "no service answers" in refused(run("node", "list"))


class Stranger(BaseHTTPRequestHandler):
    """Some other HTTP server."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>It works!</html>")

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


def test_something_else_that_answers(run: Run) -> None:
    with HTTPServer(("127.0.0.1", 0), Stranger) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.handle_request)
        thread.start()
        assert (
            refused(run("node", "list", "--url", url)) == f"{url}: answers 200, but not as Firstlight does: is it one?"
        )
        thread.join()
