"""`firstlight firmware inspect`, as people and programs call it."""

import json
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from provisioner.__main__ import app
from tests.firmware_package import vectors
from tests.firmware_package.builder import Built, Image, ascii_text


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["firmware", "inspect", *words])


def written(folder: Path, content: bytes) -> str:
    path = folder / "a.fwpkg"
    path.write_bytes(content)
    return str(path)


def test_people_read_what_is_in_a_package(tmp_path: Path) -> None:
    said = run(written(tmp_path, vectors.three().encode()))
    assert said.exit_code == 0, said.stderr
    for words in ("VersionString1, DSP0267 1.0", "326 bytes", "OpenBMC=1234", "medium-specific reset or system reboot"):
        assert words in said.stdout
    assert "IANA enterprise 0x00001647" in said.stdout


def test_people_read_packages_inside_and_what_is_odd(tmp_path: Path) -> None:
    inner = vectors.with_everything().encode()
    said = run(written(tmp_path, Built(images=[Image(inner, ascii_text("\x1b[31mred"))]).encode()))
    assert said.exit_code == 0, said.stderr
    assert "component 0 is a package itself:" in said.stdout
    assert "device behind it  from VersionString1" in said.stdout
    assert "warning component 0, component 0, location offset at byte" in said.stdout
    assert "\x1b" not in said.stdout


def test_programs_get_json(tmp_path: Path) -> None:
    said = run("--json", written(tmp_path, vectors.with_everything().encode()))
    told = json.loads(said.stdout)
    package = told["package"]
    assert (told["kind"], told["refused"], package["revision"]) == ("pldm", None, 4)
    assert package["devices"][0]["descriptors"][0]["data"] == vectors.UUID_1.hex()
    assert package["downstream_devices"][0]["reference_manifest"]["vendor_id"] == "1da0"
    assert package["components"][0]["opaque_data"]["size_bytes"] == 5
    assert told["findings"][0]["severity"] == "warning"


def test_a_refused_file_has_its_reason_and_a_remedy(tmp_path: Path) -> None:
    """Exit 1, on standard error; in JSON the field and the offset by themselves."""
    path = written(tmp_path, vectors.three().encode()[:300])
    said = run(path)
    assert (said.exit_code, said.stdout) == (1, "")
    assert f"{path}: refused: header size at byte 17 (0x11): 326 bytes" in said.stderr
    assert "get the file from its maker again" in said.stderr
    told = json.loads(run("--json", path).stdout)
    assert (told["refused"]["field"], told["refused"]["offset"]) == ("header size", 17)


def test_strict_refuses_an_image_inside_the_header(tmp_path: Path) -> None:
    path = written(tmp_path, vectors.with_everything().encode())
    assert run(path).exit_code == 0
    said = run("--strict", path)
    assert said.exit_code == 1
    assert "139 lies inside the header" in said.stderr


def test_a_file_that_is_not_there_is_wrong_input(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "provisioner", "firmware", "inspect", str(tmp_path / "absent.fwpkg")]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert said.returncode == 2
    assert "No such file" in said.stderr
