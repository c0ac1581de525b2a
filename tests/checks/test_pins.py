"""Two installs of the same checkout are the same: everything that a fresh one brings is pinned, and nothing else is."""

import json
import os
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement
from uv import find_uv_bin

from tests.checks.pins import closure_requirements, direct_requirements, pinned_here, read_pyproject
from tests.checks.tree import PACKAGES, ROOT


def run_uv(folder: Path, *arguments: str) -> str:
    """Return what uv prints when it runs in `folder`, which has no environment yet."""
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    command = [find_uv_bin(), *arguments]
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def installed(folder: Path) -> dict[str, str]:
    """Return name -> version of what is in the environment `.venv` of `folder`."""
    listed = run_uv(folder, "pip", "list", "--format=json", "--python", ".venv/bin/python")
    return {entry["name"]: entry["version"] for entry in json.loads(listed)}


def copy_skeleton(folder: Path) -> None:
    """Copy what an editable install of the project needs."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (folder / name).write_text((ROOT / name).read_text())
    for package in PACKAGES:
        (folder / package).mkdir()
        (folder / package / "__init__.py").touch()


def test_every_direct_requirement_names_one_version() -> None:
    pyproject = read_pyproject()
    requirements = closure_requirements(pyproject) + [Requirement(line) for line in build_lines()]
    loose = [str(one) for one in requirements if not str(one.specifier).startswith("==") or "*" in str(one.specifier)]
    assert not loose


def test_no_package_is_pinned_twice() -> None:
    pyproject = read_pyproject()
    direct = {one.name for one in direct_requirements(pyproject)}
    transitive = [Requirement(line).name for line in pyproject["tool"]["uv"]["constraint-dependencies"]]
    assert len(transitive) == len(set(transitive))
    assert not direct & set(transitive)


def test_a_fresh_install_brings_exactly_the_pinned_versions(tmp_path: Path) -> None:
    copy_skeleton(tmp_path)
    run_uv(tmp_path, "sync", "--all-groups", "--all-extras", "--python", sys.executable)
    pyproject = read_pyproject()
    ourselves = {pyproject["project"]["name"]: pyproject["project"]["version"]}
    assert installed(tmp_path) == pinned_here(closure_requirements(pyproject)) | ourselves


def test_a_fresh_build_environment_holds_exactly_the_pinned_versions(tmp_path: Path) -> None:
    requirements = [Requirement(line) for line in build_lines()]
    (tmp_path / "constraints.txt").write_text("\n".join(build_lines()))
    run_uv(tmp_path, "venv", "--python", sys.executable)
    requires = read_pyproject()["build-system"]["requires"]
    run_uv(tmp_path, "pip", "install", "--python", ".venv/bin/python", "--constraints", "constraints.txt", *requires)
    assert installed(tmp_path) == pinned_here(requirements)


def build_lines() -> list[str]:
    """Return the build backend and everything that it brings."""
    pyproject = read_pyproject()
    return [*pyproject["build-system"]["requires"], *pyproject["tool"]["uv"]["build-constraint-dependencies"]]
