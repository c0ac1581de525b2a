"""One data directory for all stories of the machine: its image is built once."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from profiles.loader import SHIPPED
from tests.machine.site import MachineSite, need_machine

FIRST, SECOND = "virtual-machine-1", "virtual-machine-2"
_KINDS = ("hardware", "bios", "firmware", "images", "burnin", "releases")


@pytest.fixture(scope="session")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped profiles, and a second release whose image differs in one file."""
    folder = tmp_path_factory.mktemp("profiles")
    for kind in _KINDS:
        shutil.copytree(SHIPPED / kind, folder / kind)
    image = {
        "name": "virtual-machine-b",
        "description": "The same with another message of the day.",
        "extends": ["virtual-machine"],
        "files": [{"path": "/etc/motd", "text": "the second image\n"}],
    }
    release = yaml.safe_load((folder / "releases" / f"{FIRST}.yaml").read_text())
    release |= {"name": SECOND, "image": "virtual-machine-b"}
    (folder / "images" / "virtual-machine-b.yaml").write_text(yaml.safe_dump(image, sort_keys=False))
    (folder / "releases" / f"{SECOND}.yaml").write_text(yaml.safe_dump(release, sort_keys=False))
    return folder


def build(data_dir: Path, profiles: Path, name: str) -> str:
    """`firstlight image build NAME`; the digest that it ends with."""
    command = [sys.executable, "-m", "provisioner", "image", "build", name]
    options = ["--data-dir", str(data_dir), "--profiles", str(profiles)]
    done = subprocess.run([*command, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    digest = done.stdout.strip().splitlines()[-1]
    assert digest.startswith("sha256:"), done.stdout
    return digest


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineSite]:
    """A machine that boots by PXE, on its own network."""
    need_machine()
    with MachineSite(tmp_path_factory.mktemp("machine")) as running:
        yield running
