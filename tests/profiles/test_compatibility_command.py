"""`firstlight compat` as a person and a script see it."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from profiles.compatibility import RULES
from provisioner.commands.compat import compat_app
from provisioner.errors import BadInput

Run = Callable[..., Result]
ON = ("--date", "2026-11-30")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run `firstlight compat` in an empty directory."""
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(compat_app, words)


def test_a_refusal_exits_with_1_and_names_every_reason_and_document(run: Run) -> None:
    result = run("check", "--driver", "620.70.06", "--gpu", "V100", "--cuda", "13.2", *ON)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0] == "refused: 620.70.06 with V100"
    assert [line.split()[1] for line in lines[2:5]] == [
        "driver-dropped-architecture",
        "toolkit-dropped-architecture",
        "branch-has-open-only",
    ]
    assert lines[2].endswith("S9")
    assert (
        "S9   GPU architecture support matrix of the data-centre driver documentation, docs.nvidia.com" in result.output
    )
    assert "\x1b[" not in result.output


def test_ok_is_one_line_and_exits_with_0(run: Run) -> None:
    words = ("--driver", "580.126.20", "--gpu", "gb300", "--platform", "gb300-nvl72", "--imex", "580.126.20")
    result = run("check", *words, "--memory-mode", "numa", "--cuda", "13.0.2", *ON)
    assert (result.exit_code, result.output) == (0, "ok: 580.126.20 with gb300\n")


def test_fabric_manager_must_have_the_version_of_the_driver(run: Run) -> None:
    words = ("check", "--driver", "595.58.03", "--gpu", "H200", "--platform", "hgx-h200", *ON)
    assert run(*words, "--fabric-manager", "595.58.03").exit_code == 0
    assert (
        "nvidia-fabricmanager 595.45.04 is not the driver's version"
        in run(*words, "--fabric-manager", "595.45.04").output
    )
    assert "hgx-h200 needs nvidia-fabricmanager 595.58.03, and none is named" in run(*words).output


def test_a_finding_depends_on_the_day_and_can_be_waived(run: Run) -> None:
    words = ("check", "--driver", "595.58.03", "--gpu", "H100", "--date")
    assert run(*words, "2027-03-31").exit_code == 0
    ended = run(*words, "2027-04-01")
    assert ended.exit_code == 1
    assert ended.output.startswith("not without somebody's consent: 595.58.03 with H100\n")
    assert run(*words, "2027-04-01", "--waive", "past-end-of-life").exit_code == 0


def test_every_option_reaches_its_rule(run: Run) -> None:
    words = shlex.split(
        "--driver 570.211.01 --gpu 'RTX A6000' --gpu V100 --cuda 13.2 --cuda 13.4.0 --cuda-compat 13.0 --jit-ptx "
        "--gsp-off --modules open --kernel 4.4.0 --use dma-buf --component dcgm=9.1 --component nvidia-fs=2.1 "
        "--memory-mode driver --platform pcie --imex 570.1.1 --date 2026-11-30 --json"
    )
    result = run("check", *words)
    assert result.exit_code == 1
    told = json.loads(result.output)
    assert told["outcome"] == "refused"
    assert {reason["name"] for reason in told["reasons"]} == {
        "component-not-needed",
        "component-version-differs",
        "dcgm-unknown",
        "forward-on-this-gpu-unknown",
        "gsp-off-with-open-modules",
        "kernel-too-old",
        "kernel-too-old-for-dma-buf",
        "memory-mode-without-effect",
        "nvidia-fs-too-old",
        "past-end-of-life",
        "proprietary-modules-required",
        "ptx-newer-than-driver",
        "toolkit-dropped-architecture",
        "toolkit-is-preview",
    }
    assert all(source["url"] for reason in told["reasons"] for source in reason["sources"])


def test_explain_shows_every_rule_also_those_that_pass_or_had_nothing_to_judge(run: Run) -> None:
    result = run("explain", "--driver", "620.70.06", "--gpu", "H100", *ON)
    assert result.exit_code == 0
    assert result.output.startswith("ok: 620.70.06 with H100\n")
    assert all(f"\n{rule} " in result.output for rule in RULES)
    assert "R620 is supported until the end of 2029-09" in result.output
    assert result.output.count("nothing to say about what was named") == 11
    told = json.loads(run("explain", "--driver", "620.70.06", "--gpu", "H100", *ON, "--json").output)
    assert [one["rule"] for one in told["rules"]] == list(RULES)


def test_horizon_of_one_driver(run: Run) -> None:
    result = run("horizon", "--driver", "580.95.05", "--gpu", "V100", *ON)
    assert result.exit_code == 0
    assert result.output.startswith("580.95.05: must move by 2028-06-30, in 578 days\n")
    assert "nowhere to go  no supported branch that lasts longer takes all of it" in result.output
    overdue = run("horizon", "--driver", "570.211.01", "--gpu", "H100", "--modules", "proprietary", *ON).output
    assert overdue.startswith("570.211.01: overdue since 2026-02-28\n")
    assert "620.70.06, supported until 2029-09-30: open kernel modules instead of proprietary" in overdue
    assert (
        "the end of its branch is not published" in run("horizon", "--driver", "615.71.09", "--gpu", "T4", *ON).output
    )


def test_horizon_of_a_fleet(run: Run, tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(
        'pools:\n- {name: new, driver: "620.70.06", gpus: [H100]}\n- {name: old, driver: "535.309.01", gpus: [A100]}\n'
    )
    result = run("horizon", "--fleet", "fleet.yaml", *ON)
    assert [line for line in result.output.splitlines() if line.startswith(("old", "new"))] == [
        "old, 535.309.01: overdue since 2026-06-30",
        "new, 620.70.06: must move by 2029-09-30, in 1035 days",
    ]
    told = json.loads(run("horizon", "--fleet", "fleet.yaml", *ON, "--json").output)
    assert [(one["pool"], one["by"]) for one in told] == [("old", "2026-06-30"), ("new", "2029-09-30")]
    assert told[0]["targets"][0] == {
        "driver": "620.70.06",
        "until": "2029-09-30",
        "changes": ["open kernel modules instead of proprietary"],
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("check", "--driver", "999.1", "--gpu", "H100"), 'driver "999.1" is of no known branch; known: R418, R440'),
        (("check", "--driver", "580.95.05", "--gpu", "H10"), 'GPU "H10" is not known; did you mean "H100"?'),
        (
            ("check", "--driver", "580.95.05", "--gpu", "H100", "--component", "nvlsm"),
            '--component "nvlsm" has no version',
        ),
        (("horizon", "--driver", "580.95.05"), "no GPU is named"),
        (("horizon",), "name one driver with --driver"),
        (("horizon", "--fleet", "absent.yaml"), "absent.yaml:1: cannot be read: No such file"),
        (("horizon", "--fleet", "absent.yaml", "--driver", "580.95.05"), "name one driver with --driver"),
    ],
)
def test_bad_input_is_told_and_starts_nothing(run: Run, words: tuple[str, ...], told: str) -> None:
    result = run(*words)
    assert isinstance(result.exception, BadInput)
    assert str(result.exception).startswith(told)


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--driver", "580.95.05"),
        ("check", "--driver", "580.95.05", "--gpu", "H100", "--modules", "both"),
        ("check", "--driver", "580.95.05", "--gpu", "H100", "--date", "30.11.2026"),
        ("check", "--driver", "580.95.05", "--gpu", "H100", "--memory-mode", "auto"),
    ],
)
def test_words_that_the_command_line_does_not_have(run: Run, words: tuple[str, ...]) -> None:
    assert run(*words).exit_code == 2


@pytest.mark.parametrize(("gpu", "code"), [("H100", 0), ("V100", 1), ("V101", 2)])
def test_exit_codes_of_the_process(gpu: str, code: int) -> None:
    command = [sys.executable, "-m", "provisioner", "compat", "check", "--driver", "620.70.06", "--gpu", gpu, *ON]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == code, result.stderr
    assert ('did you mean "V100"?' in result.stderr) == (code == 2)
    assert "Traceback" not in result.stderr
