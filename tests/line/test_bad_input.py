"""What people get wrong is said with file, line, field and remedy; nothing is started, the exit code is 2."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from provisioner.bench.line import light_profiles

EXPECTED = """\
nodes:
  - {name: r01-u01, rack: r01, position: 1, bmc_address: 127.20.1.1, bmc_port: 8443}
  - {name: r01-u02, rack: r01, position: 2, bmc_address: 127.20.1.2, bmc_port: 8443}
"""
SITE = """\
name: trial
data_dir: data
listen: {host: 127.0.0.1, port: 18410}
expected: expected.yaml
profiles: profiles
releases:
  hgx-h100-8gpu: hgx-h100-2025-1
"""

Break = Callable[[Path], None]


def _in(file: str, old: str, new: str) -> Break:
    def change(folder: Path) -> None:
        path = folder / file
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return change


def _csv(folder: Path) -> None:
    (folder / "site.yaml").write_text(SITE.replace("expected.yaml", "expected.csv"))
    (folder / "expected.csv").write_text("name,rack,position,bmc_adress\nr01-u01,r01,1,127.20.1.1\n")


CASES: dict[str, tuple[Break, list[str]]] = {
    "unknown key in site.yaml": (
        _in("site.yaml", "expected:", "expectde:"),
        ["site.yaml:4: expectde: is not a known key", 'did you mean "expected"?'],
    ),
    "wrong type in site.yaml": (
        _in("site.yaml", "port: 18410", "port: many"),
        ["site.yaml:3: listen.port: must be a whole number"],
    ),
    "unknown release": (
        _in("site.yaml", "hgx-h100-2025-1", "hgx-h100-2025-2"),
        ["there is no release hgx-h100-2025-2", 'did you mean "hgx-h100-2025-1"?'],
    ),
    "no YAML": (_in("site.yaml", "releases:", "releases: ["), ["site.yaml:"]),
    "unknown key in a profile": (
        _in("profiles/bios/hgx-h100-gpu-pool.yaml", "attributes:", "atributes:"),
        ["hgx-h100-gpu-pool.yaml:", "atributes: is not a known key", 'did you mean "attributes"?'],
    ),
    "unquoted version": (
        _in("profiles/firmware/hgx-h100-2025-1.yaml", 'bmc: "11.03.18"', "bmc: 1.10"),
        ["hgx-h100-2025-1.yaml:", 'quote it: "1.10"'],
    ),
    "image that has not been built": (
        _in("profiles/releases/hgx-h100-2025-1.yaml", "image: agent-x86-64", "image: gpu-r580"),
        ["hgx-h100-2025-1: image gpu-r580 has not been built; run: firstlight image build gpu-r580"],
    ),
    "abstract image": (
        _in("profiles/releases/hgx-h100-2025-1.yaml", "image: agent-x86-64", "image: gpu-base"),
        ["hgx-h100-2025-1.yaml:", '"gpu-base" is abstract'],
    ),
    "unknown key in the expected list": (
        _in("expected.yaml", "position: 2", "postion: 2"),
        ["expected.yaml:3:", "postion: is not a known key", 'did you mean "position"?'],
    ),
    "one address twice": (
        _in("expected.yaml", "127.20.1.2", "127.20.1.1"),
        ["expected.yaml:3:", "127.20.1.1"],
    ),
    "unknown column in CSV": (_csv, ["expected.csv:1:", "bmc_adress", "bmc_address"]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A site that is in order."""
    (tmp_path / "expected.yaml").write_text(EXPECTED)
    (tmp_path / "site.yaml").write_text(SITE)
    light_profiles(tmp_path)
    return tmp_path


def _serve(folder: Path, *more: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "provisioner", "serve", "--config", str(folder / "site.yaml"), *more]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("case", CASES)
def test_wrong_input_starts_nothing(folder: Path, case: str) -> None:
    """Every message names the place and the way out."""
    change, words = CASES[case]
    change(folder)
    done = _serve(folder)
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "data").exists()


def test_a_site_in_order_passes_the_check(folder: Path) -> None:
    """`serve --check` reads everything and starts nothing."""
    done = _serve(folder, "--check")
    assert (done.returncode, "2 nodes expected" in done.stdout) == (0, True)
    assert not (folder / "data").exists()


def test_all_findings_come_at_once(folder: Path) -> None:
    """Nobody has to start ten times to find ten mistakes."""
    site = yaml.safe_load(SITE) | {"nmae": "x", "speed": "fast", "limits": {"per_rak": 3}}
    (folder / "site.yaml").write_text(yaml.safe_dump(site))
    done = _serve(folder)
    assert done.returncode == 2
    assert all(word in done.stderr for word in ("nmae", "speed", "per_rak"))


def test_a_missing_file_is_named(folder: Path) -> None:
    """The expected list that site.yaml names is not there."""
    (folder / "expected.yaml").unlink()
    done = _serve(folder)
    assert done.returncode == 2
    assert "expected.yaml" in done.stderr
    assert "Traceback" not in done.stderr
