"""`firstlight rollout simulate`, as people and programs call it."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner, Result

from provisioner.__main__ import app
from provisioner.errors import BadInput

BAD = ("--nodes", "2000", "--defect-rate", "0.3", "--base-failure", "0")


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["rollout", "simulate", *words])


def test_people_read_how_it_ended_and_what_it_cost() -> None:
    said = run(*BAD, "--run-short", "0", "--seed", "3")
    assert said.exit_code == 0, said.stderr
    for words in (
        "2,000 nodes in units of 18, seed 3",
        "returned",
        "nodes failed, and 0 of",
        "0 nodes on the new release",
    ):
        assert words in said.stdout
    assert "after the first defect showed; all was back" in said.stdout
    wave = next(line.split() for line in said.stdout.splitlines() if line.startswith("0 "))
    assert (wave[1], wave[-2]) == ("5", "fail")


def test_programs_read_the_same() -> None:
    said = run(*BAD, "--json")
    figures = json.loads(said.stdout)
    assert (figures["seed"], figures["nodes"], figures["floor"]) == (1, 2000, 1800)
    assert figures["waves"][0]["verdict"] == "fail"
    assert figures["curve"][0] == {"at": 0.0, "serving": 2000, "serving_new": 0, "returning": False}
    assert any(moment["returning"] for moment in figures["curve"])
    assert run(*BAD, "--json").stdout == said.stdout, "the same seed, the same run"


def test_many_runs_say_how_often_it_went_wrong() -> None:
    said = run("--nodes", "900", "--runs", "3", "--base-failure", "0")
    assert said.exit_code == 0, said.stderr
    assert "3, seeds 1 to 3: 3 complete" in said.stdout
    assert "false aborts         0 of 3" in said.stdout
    missed = json.loads(run(*BAD, "--runs", "2", "--json").stdout)
    assert (missed["runs"], missed["defective"], missed["wrong"]) == (2, True, 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--defect-rate", "1.5"), "--defect-rate: 1.5 is not a share: give 0 to 1"),
        (("--defect-rate", "nan"), "--defect-rate: nan is not a share"),
        (("--boot-failure", "-0.1"), "--boot-failure: -0.1 is not a share"),
        (("--nodes", "0"), "--nodes: 0: give 1 to 1000000"),
        (("--domain-size", "0"), "--domain-size: 0: give 1 to the number of nodes"),
        (("--nodes", "9", "--domain-size", "18"), "--domain-size: 18: give 1 to the number of nodes"),
        (("--canaries", "0"), "--canaries: 0: give 1 or more"),
        (("--run-short", "18"), "--run-short: 18: give 0 or more, and less than the nodes of a domain"),
        (("--power-loss", "-1"), "--power-loss: -1: give 0 or more"),
        (("--max-days", "0"), "--max-days: 0: give more than 0"),
        (("--max-days", "inf"), "--max-days: inf: give more than 0"),
        (("--floor", "most"), "--floor: 'most' is neither: give percent such as 90%, or a number of nodes"),
        (("--floor", "110%"), "/floor/percent: 110 is not a share"),
        (("--floor", "100%"), "/floor/percent: lets 0 of 1000 simulated nodes be out of service"),
        (("--floor", "990"), " needs 18: lower the floor"),
        (("--runs", "0"), "--runs: 0: give 1 to 100000"),
        (("--runs", "2", "--plot", "a.svg"), "--plot: 2 runs make no picture: leave --runs out"),
        (("--plot", "a.pdf"), "--plot: a.pdf: name a file that ends in .svg or .png"),
        (("--plot", "/no/such/a.svg"), "--plot: /no/such/a.svg: there is no folder /no/such: make it"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_is_refused_with_field_and_remedy(words: tuple[str, ...], said: str) -> None:
    result = run("--nodes", "1000", *words)
    assert isinstance(result.exception, BadInput)
    assert said in str(result.exception)


def test_every_mistake_is_told_at_once_and_ends_with_2() -> None:
    words = ["--nodes", "0", "--defect-rate", "1.5", "--job-hours", "-1"]
    command = [sys.executable, "-m", "provisioner", "rollout", "simulate", *words]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert [line.split(":")[0] for line in ended.stderr.splitlines()] == [
        "--nodes",
        "--domain-size",
        "--defect-rate",
        "--job-hours",
    ]


def test_a_picture_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "folder.svg").mkdir()
    result = run("--plot", str(tmp_path / "folder.svg"))
    assert isinstance(result.exception, BadInput)
    assert "folder.svg: cannot be written: name another file" in str(result.exception)
    assert result.stdout == ""


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path) -> None:
    words = ["rollout", "simulate", "--nodes", "900", "--plot", str(tmp_path / "a.svg")]
    script = f"import sys; sys.modules['matplotlib'] = None; sys.argv[1:] = {words!r}"
    script += "; from provisioner.__main__ import main; main()"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == 2
    assert "--plot: matplotlib is not installed: install firstlight with its extra, firstlight[plot]" in ended.stderr
    assert not list(tmp_path.iterdir())


def test_the_picture_shows_waves_floor_and_what_went_back(tmp_path: Path) -> None:
    pictures = [tmp_path / name for name in ("a.svg", "b.svg")]
    for picture in pictures:
        assert run(*BAD, "--plot", str(picture)).exit_code == 0
    assert pictures[0].read_bytes() == pictures[1].read_bytes(), "the same seed, the same file"
    texts = {text.strip() for text in ET.parse(pictures[0]).getroot().itertext() if text.strip()}
    assert {"in service", "floor", "goes back", "wave 0", "5 units", "2,000 nodes, seed 1: returned"} <= texts


def test_a_good_release_goes_back_in_no_picture(tmp_path: Path) -> None:
    picture = tmp_path / "a.svg"
    run("--nodes", "900", "--base-failure", "0", "--plot", str(picture))
    texts = {text.strip() for text in ET.parse(picture).getroot().itertext()}
    assert "goes back" not in texts
    assert {"wave 0", "wave 2"} <= texts


def test_a_picture_may_be_png(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    assert run("--nodes", "900", "--plot", str(picture)).exit_code == 0
    content = picture.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(content[16:20]) == 1200
