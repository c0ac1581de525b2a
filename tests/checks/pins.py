"""The versions that pyproject.toml pins."""

import tomllib
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.checks.tree import ROOT


def read_pyproject() -> dict[str, Any]:
    """Return pyproject.toml as parsed TOML."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def direct_requirements(pyproject: dict[str, Any]) -> list[Requirement]:
    """Return what we ask for by name: dependencies, extras and groups, without ourselves."""
    project, groups = pyproject["project"], pyproject["dependency-groups"]
    lists = [project["dependencies"], *project["optional-dependencies"].values(), *groups.values()]
    requirements = [Requirement(line) for lines in lists for line in lines]
    return [requirement for requirement in requirements if requirement.name != project["name"]]


def closure_requirements(pyproject: dict[str, Any]) -> list[Requirement]:
    """Return everything that an install with all extras and groups brings, each pinned to one version."""
    transitive = [Requirement(line) for line in pyproject["tool"]["uv"]["constraint-dependencies"]]
    return direct_requirements(pyproject) + transitive


def pinned_here(requirements: list[Requirement]) -> dict[str, str]:
    """Return name -> version of the pins whose markers hold for this interpreter on this platform."""
    applying = [one for one in requirements if one.marker is None or one.marker.evaluate()]
    return {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one in applying}
