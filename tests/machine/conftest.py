"""The images of all stories: built once, by the product."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from profiles.loader import SHIPPED
from tests.images.built import need_building_tools, shared_folder
from tests.machine.site import need_machine

FIRST, SECOND, UNTRUE = "virtual-machine-1", "virtual-machine-2", "virtual-machine-3"
_KINDS = ("hardware", "bios", "firmware", "images", "burnin", "releases")


@dataclass(frozen=True, slots=True)
class Images:
    """Both images in one data directory that nobody may change; `profiles` has the releases that name them."""

    data_dir: Path
    profiles: Path
    first: str
    second: str

    def lend_to(self, folder: Path) -> None:
        """Put the same files into another data directory, by links."""
        for name in ("artefacts", "images"):
            subprocess.run(["cp", "-al", str(self.data_dir / name), str(folder)], check=True)


@pytest.fixture(scope="session")
def images(tmp_path_factory: pytest.TempPathFactory) -> Images:
    """The shipped image for virtual machines, and one that differs in one file; built unless an earlier run has.

    The release `UNTRUE` has an image that is not built.
    """
    need_machine()
    need_building_tools()
    profiles = tmp_path_factory.mktemp("profiles")
    for kind in _KINDS:
        shutil.copytree(SHIPPED / kind, profiles / kind)
    for letter, release in (("b", SECOND), ("c", UNTRUE)):
        image = {
            "name": f"virtual-machine-{letter}",
            "description": "The same with another message of the day.",
            "extends": ["virtual-machine"],
            "files": [{"path": "/etc/motd", "text": f"image {letter}\n"}],
        }
        _add(profiles, image, release)
    data_dir = shared_folder() / "data"
    digests = [build(data_dir, profiles, name) for name in ("virtual-machine", "virtual-machine-b")]
    return Images(data_dir, profiles, *digests)


def _add(profiles: Path, image: dict[str, Any], release: str) -> None:
    """An image, and a release like the shipped one with that image."""
    shipped = yaml.safe_load((profiles / "releases" / f"{FIRST}.yaml").read_text())
    other = shipped | {"name": release, "image": image["name"]}
    (profiles / "images" / f"{image['name']}.yaml").write_text(yaml.safe_dump(image, sort_keys=False))
    (profiles / "releases" / f"{release}.yaml").write_text(yaml.safe_dump(other, sort_keys=False))


def build(data_dir: Path, profiles: Path, name: str) -> str:
    """`firstlight image build NAME`; the digest that it ends with."""
    command = [sys.executable, "-m", "provisioner", "image", "build", name]
    options = ["--data-dir", str(data_dir), "--profiles", str(profiles)]
    done = subprocess.run([*command, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    digest = done.stdout.strip().splitlines()[-1]
    assert digest.startswith("sha256:"), done.stdout
    return digest
