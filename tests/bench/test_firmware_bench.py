"""The bench of firmware packages measures a package that is whole, in a process of its own."""

import json
import os
from pathlib import Path

from typer.testing import CliRunner

from provisioner.bench.command import bench_app
from provisioner.bench.firmware_package import write_package
from provisioner.firmware.package.inspect import inspect_file

MOST_MEMORY_MIB = 50


def test_the_package_of_the_bench_is_whole_and_without_holes(tmp_path: Path) -> None:
    """A file with holes would be read faster than any disk; every image has to be there."""
    path = tmp_path / "a.fwpkg"
    write_package(path, 9)
    inspection = inspect_file(path, strict=True)
    assert inspection.package is not None
    assert sum(one.image.size_bytes for one in inspection.package.components) == 9 * 2**20
    assert inspection.findings == ()
    with path.open("rb") as file:
        assert os.lseek(file.fileno(), 0, os.SEEK_HOLE) == path.stat().st_size


def test_a_package_is_looked_into_with_little_memory(tmp_path: Path) -> None:
    """Far below the size of the package: nothing of it stays in memory."""
    figures = tmp_path / "figures.json"
    run = CliRunner().invoke(bench_app, ["firmware", "--part", "package", "--mebibytes", "100", "--json", str(figures)])
    assert run.exit_code == 0, run.output
    told = json.loads(figures.read_text())["package"]
    assert (told["images"], round(told["size_mib"])) == (8, 100)
    assert told["inspect_seconds"] > 0
    assert told["peak_memory_mib"] < MOST_MEMORY_MIB
