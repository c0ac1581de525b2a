"""`firstlight image build` as a person and a script see it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from images.build import build_image
from images.store import ArtefactStore
from tests.requirements import need


def build(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run the command in the folder."""
    command = [sys.executable, "-m", "provisioner", "image", "build", *words]
    return subprocess.run(command, cwd=folder, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True)


def mirror_with(folder: Path, *packages: str) -> Path:
    """Return a site whose mirror of Debian is a folder with these empty packages."""
    (folder / "debs").mkdir()
    for package in packages:
        control = folder / package / "DEBIAN" / "control"
        control.parent.mkdir(parents=True)
        described = "Maintainer: nobody\nDescription: nothing\n"
        control.write_text(f"Package: {package}\nVersion: 1\nArchitecture: amd64\n{described}")
        subprocess.run(["dpkg-deb", "--build", folder / package, folder / "debs"], check=True, capture_output=True)
    site = folder / "site.yaml"
    site.write_text("name: lab\nmirrors:\n  debian: [{folder: debs}]\n")
    return site


def test_the_agent_image_is_built_by_the_same_command(tmp_path: Path) -> None:
    ran = build(tmp_path, "agent-x86-64", "--data-dir", "data")
    expected = build_image("agent-x86-64", "x86_64", ArtefactStore(tmp_path / "other")).digest
    assert (ran.returncode, ran.stdout.splitlines()[-1]) == (0, expected)
    assert ArtefactStore(tmp_path / "data" / "artefacts").verify(expected)


def test_the_site_says_where_images_go(tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text("name: lab\ndata_dir: here\n")
    assert build(tmp_path, "agent-x86-64").returncode == 0
    assert (tmp_path / "here" / "artefacts").is_dir()


@pytest.mark.parametrize(
    ("name", "words"),
    [("debian-12-bas", 'did you mean "debian-12-base"'), ("debian-base", "debian-base is abstract")],
)
def test_what_cannot_be_built_is_wrong_input(tmp_path: Path, name: str, words: str) -> None:
    ran = build(tmp_path, name)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr


def test_every_package_that_the_mirror_lacks_is_told_with_file_and_line(tmp_path: Path) -> None:
    need(os.geteuid() == 0, "building images needs root here")
    mirror_with(tmp_path, "udev", "kmod")
    ran = build(tmp_path, "debian-12-base")
    assert ran.returncode == 1
    told = [line for line in ran.stdout.splitlines() if "package-missing" in line]
    assert [line for line in told if "debian-12-base.yaml:" in line and "linux-image-amd64" in line]
    assert [line for line in told if "debian-base.yaml:" in line and "no systemd-sysv" in line]
    assert not [line for line in told if "no udev" in line]
    assert not (tmp_path / "firstlight-data" / "images").exists()


def test_a_mirror_without_packages_is_told_with_its_path(tmp_path: Path) -> None:
    need(os.geteuid() == 0, "building images needs root here")
    mirror_with(tmp_path)
    ran = build(tmp_path, "debian-12-base")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert f"{tmp_path / 'debs'}: " in ran.stderr
    assert "Traceback" not in ran.stderr


def test_somebody_without_rights_is_told_how_to_get_them(tmp_path: Path) -> None:
    need(os.geteuid() == 0, "only root can become nobody")
    words = (sys.executable, "-m", "provisioner", "image", "build", "debian-12-base", f"--data-dir={tmp_path}")
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words]
    ran = subprocess.run(nobody, capture_output=True, text=True, cwd="/")
    need("Permission denied" not in ran.stderr, "nobody cannot read this checkout")
    assert ran.returncode == 1
    assert "run it as root, or install the package uidmap" in ran.stderr
