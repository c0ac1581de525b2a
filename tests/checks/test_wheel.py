"""The wheel holds our five packages with their data files, and nothing else."""

import ast
import subprocess
from configparser import ConfigParser
from pathlib import Path
from zipfile import ZipFile

import pytest
from uv import find_uv_bin

from tests.checks.tree import PACKAGES, checked_in_files, copy_checkout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> ZipFile:
    """Build the wheel from a copy of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    copy_checkout(folder / "checkout")
    command = [find_uv_bin(), "build", "--wheel", "--out-dir", str(folder)]
    run = subprocess.run(command, cwd=folder / "checkout", capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (path,) = folder.glob("*.whl")
    return ZipFile(path)


def test_wheel_holds_the_checked_in_files_of_our_packages(wheel: ZipFile) -> None:
    expected = {name.as_posix() for name in checked_in_files(*PACKAGES)}
    held = {name for name in wheel.namelist() if not Path(name).parts[0].endswith(".dist-info")}
    assert held == expected


def test_entry_points_lead_to_functions(wheel: ZipFile) -> None:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/entry_points.txt"))
    entry_points = ConfigParser()
    entry_points.read_string(wheel.read(name).decode())
    scripts = entry_points["console_scripts"]
    assert set(scripts) == {"firstlight", "firstlight-emulator"}
    missing = [target for target in scripts.values() if not leads_to_a_name(wheel, target)]
    assert not missing


def leads_to_a_name(wheel: ZipFile, target: str) -> bool:
    """Tell whether `package.module:name` is defined at the top of a module in the wheel."""
    module, _, name = target.partition(":")
    path = module.replace(".", "/") + ".py"
    if path not in wheel.namelist():
        return False
    nodes = ast.parse(wheel.read(path)).body
    functions = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
    variables = [ast.unparse(target) for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    return name in functions + variables
