"""Write the closure's pins into pyproject.toml: `uv run python -m tests.checks.pin_closure`.

Run it after every change of a direct dependency; review the difference like code. The resolver starts from the direct
pins alone, for every Python and platform that we support, so the result holds the newest versions that fit.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from uv import find_uv_bin

from tests.checks.pins import direct_requirements, read_pyproject
from tests.checks.tree import ROOT

EXPORT = ("--all-groups", "--all-extras", "--no-hashes", "--no-emit-project", "--no-annotate", "--no-header", "--quiet")
COMPILE = ("--no-annotate", "--no-header", "--quiet")


def main() -> None:
    """Resolve both closures and replace their tables in pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text()
    pyproject = read_pyproject()
    runtime = without(resolve_runtime(text), direct_requirements(pyproject))
    build_requires = pyproject["build-system"]["requires"]
    build = without(resolve_build(build_requires), [Requirement(line) for line in build_requires])
    text = replace_table(text, "constraint-dependencies", runtime)
    text = replace_table(text, "build-constraint-dependencies", build)
    (ROOT / "pyproject.toml").write_text(text)


def resolve_runtime(pyproject_text: str) -> list[str]:
    """Return one pinned requirement a line for the project with all extras and groups."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "pyproject.toml").write_text(replace_table(pyproject_text, "constraint-dependencies", []))
        shutil.copy(ROOT / "README.md", project)
        run_uv(["lock", "--quiet"], project)
        return run_uv(["export", "--frozen", *EXPORT], project).splitlines()


def resolve_build(requires: Sequence[str]) -> list[str]:
    """Return one pinned requirement a line for the build backend."""
    command = ["pip", "compile", "--universal", "--python-version", "3.11", *COMPILE, "-"]
    with tempfile.TemporaryDirectory() as folder:
        return run_uv(command, Path(folder), "\n".join(requires)).splitlines()


def run_uv(arguments: Sequence[str], folder: Path, stdin: str = "") -> str:
    """Return what uv prints; raises CalledProcessError when it fails, after it has said why."""
    command = [find_uv_bin(), *arguments]
    return subprocess.run(command, cwd=folder, input=stdin, check=True, stdout=subprocess.PIPE, text=True).stdout


def without(lines: Sequence[str], direct: Sequence[Requirement]) -> list[str]:
    """Return the lines whose package nobody asked for by name."""
    names = {canonicalize_name(one.name) for one in direct}
    return sorted(line for line in lines if canonicalize_name(Requirement(line).name) not in names)


def replace_table(pyproject_text: str, name: str, lines: Sequence[str]) -> str:
    """Return pyproject.toml with the list `name` of [tool.uv] replaced; ValueError unless it is there exactly once."""
    entries = "".join(f'    "{line}",\n' for line in lines)
    table = f"{name} = [\n{entries}]\n"
    replaced, count = re.subn(rf"^{name} = \[\n(?:    .*\n)*\]\n", lambda _: table, pyproject_text, flags=re.MULTILINE)
    if count != 1:
        message = f"pyproject.toml: expected one list {name!r} in [tool.uv], found {count}"
        raise ValueError(message)
    return replaced


if __name__ == "__main__":
    main()
