"""`firstlight image` as a person and a script see it."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from provisioner.commands.image import image_app
from provisioner.errors import BadInput
from tests.profiles.image_files import IMAGES
from tests.profiles.package_files import PACKAGES, packages_text

Run = Callable[..., Result]
ON = ("--date", "2026-11-30")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run `firstlight image` where `site` holds a family of profiles and `Packages` what a mirror offers."""
    (tmp_path / "site" / "images").mkdir(parents=True)
    for name, text in IMAGES.items():
        (tmp_path / "site" / "images" / f"{name}.yaml").write_text(text)
    (tmp_path / "Packages").write_text(packages_text(PACKAGES))
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(image_app, words)


def test_list_shows_what_inherits_from_what(run: Run) -> None:
    lines = run("list").output.splitlines()
    assert ["gpu-r580", "debian", "x86_64", "gpu-base", "->"] in [line.split()[:5] for line in lines]
    told = {one["name"]: one for one in json.loads(run("list", "--json", "--profiles", "site").output)}
    assert told["gpu"] == {
        "name": "gpu",
        "root": "debian",
        "arch": "x86_64",
        "abstract": False,
        "chain": ["elder", "gpu"],
    }


def test_explain_shows_each_value_with_its_place_and_what_it_won_against(run: Run) -> None:
    lines = run("explain", "gpu-r620-gb200").output.splitlines()
    (line,) = (line for line in lines if line.startswith("gpu.memory_mode "))
    assert line.split() == [
        "gpu.memory_mode",
        '"driver"',
        "gpu-r620-gb200.yaml:15",
        '"not_applicable"',
        "gpu-base.yaml:20",
    ]
    told = json.loads(run("explain", "plain", "--profiles", "site", "--json").output)
    assert told[0] == {"field": "name", "value": '"plain"', "where": "plain.yaml:1", "overrode": []}


def test_check_of_a_driver_that_fits_is_one_line(run: Run) -> None:
    result = run("check", "gpu", "--profiles", "site", *ON)
    assert (result.exit_code, result.output) == (0, "ok: gpu\n")
    ended = run("check", "gpu", "--profiles", "site", "--date", "2028-07-01")
    assert ended.exit_code == 1
    assert ended.output.startswith("site/images/gpu.yaml:8: gpu.driver.version: R580 had its end of life in 2028-06")
    assert "(finding past-end-of-life)" in ended.output


def test_check_names_file_and_line_of_every_reason(run: Run, tmp_path: Path) -> None:
    image = tmp_path / "site" / "images" / "gpu.yaml"
    image.write_text(image.read_text().replace("[H100]", "[V100]").replace('580.126.20"', '580.1"'))
    result = run("check", "gpu", "--profiles", "site", "--json", *ON)
    assert result.exit_code == 1
    told = {one["name"]: one for one in json.loads(result.output)["reasons"]}
    assert told["gpu-not-on-platform"]["line"] == 6
    assert told["proprietary-modules-required"]["line"] == 8
    assert {one["severity"] for one in told.values()} == {"refusal", "finding"}
    assert all(one["file"] == "site/images/gpu.yaml" and one["sources"] for one in told.values())


def test_lock_lists_every_package_and_ends_with_its_digest(run: Run) -> None:
    words = ("lock", "gpu", "--profiles", "site", "--packages", "Packages", *ON)
    result = run(*words)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[1].split() == ["kernel", "6.1.0-57-amd64,", "6.1.192-3"]
    assert lines[2].split() == ["driver", "580.126.20", "nvidia-fabricmanager", "580.126.20-1"]
    assert lines[-1].startswith("sha256:")
    assert json.loads(run(*words, "--json").output)["image"] == "gpu"


def test_lock_says_what_is_missing_and_where_it_is_asked_for(run: Run, tmp_path: Path) -> None:
    (tmp_path / "Packages").write_text(packages_text(line for line in PACKAGES if not line.startswith("kmod")))
    result = run("lock", "gpu", "--profiles", "site", "--packages", "Packages", *ON)
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "site/images/elder.yaml:8: kernel.package: linux-image-6.1.0-57-amd64 needs kmod; "
        "the package index has none that fits (refusal dependency-missing)",
        "site/images/elder.yaml:16: packages.install[1]: the package index has no kmod (refusal package-missing)",
    ]


def test_egress_prints_the_ruleset_and_nothing_else(run: Run) -> None:
    output = run("egress", "burn-in").output
    assert output.startswith("#!/usr/sbin/nft -f\n")
    assert "ip daddr 10.0.0.0/8 tcp dport 8410 accept" in output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("explain", "gpu-r58"), 'there is no image "gpu-r58"; did you mean "gpu-r580"?'),
        (("check", "debian-base"), "debian-base is abstract"),
        (("check", "agent-x86-64"), "agent-x86-64 has root: agent, which has no packages"),
        (("list", "--profiles", "absent"), "absent/images holds no profiles"),
        (("lock", "burn-in", "--packages", "absent"), "absent: [Errno 2] No such file"),
        (("lock", "burn-in", "--packages", "site/images/gpu.yaml"), "site/images/gpu.yaml: a paragraph without a name"),
    ],
)
def test_bad_input_is_told(run: Run, words: tuple[str, ...], told: str) -> None:
    result = run(*words)
    assert isinstance(result.exception, BadInput)
    assert str(result.exception).startswith(told)


def test_a_profile_that_is_wrong_is_told_with_its_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "site" / "images" / "plain.yaml").write_text(IMAGES["plain"] + "kernel: {version: 12.10}\n")
    result = run("explain", "gpu", "--profiles", "site")
    assert str(result.exception) == (
        'site/images/plain.yaml:4: kernel.version: 12.10 is read by YAML as a number, not as text; quote it: "12.10"'
    )


@pytest.mark.parametrize(("name", "code"), [("gpu-r620", 0), ("gpu-r621", 2)])
def test_exit_codes_of_the_process(name: str, code: int) -> None:
    command = [sys.executable, "-m", "provisioner", "image", "check", name, *ON]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr
