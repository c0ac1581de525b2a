"""Small Debian images for tests, built by the product from the machine's own apt sources, once for all tests.

They lie under a path that stays the same, so that another test, and the next run, finds them built.
"""

import os
import shutil
import tempfile
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from images.building.build import build_debian_image
from images.building.request import BuildRequest, Built, Stage
from images.building.supplies import SiteSupplies
from profiles.compat.load import load_facts
from profiles.images.debian import DebianImage
from profiles.images.load import load_images
from profiles.loader import IMAGES, SHIPPED
from tests.requirements import need

TOOLS = ("mmdebstrap", "mksquashfs", "veritysetup", "unshare")

SLIM = """\
name: {name}
description: A small Debian 12 for tests.
extends: [virtual-machine]
"""
"""It shares the bootstrap of the shipped image for virtual machines, which tests/machine boots."""


class SlimImage(NamedTuple):
    """`profiles` is a whole folder of profiles with the image's among them."""

    data_dir: Path
    digest: str
    profiles: Path


class Silent:
    """Hears what a build tells, and keeps the words for people."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def begin(self, stage: Stage) -> None:
        pass

    def progress(self, done: int, total: int) -> None:
        pass

    def say(self, text: str) -> None:
        self.said.append(text)


def need_building_tools() -> None:
    """Skip the test where images cannot be built; CI can."""
    need(os.geteuid() == 0, "building images needs root here")
    missing = [tool for tool in TOOLS if shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin") is None]
    need(not missing, f"missing: {missing}")


def shared_folder() -> Path:
    """Where images of all tests and runs are; it may be deleted when no test runs."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", tempfile.gettempdir())) / f"firstlight-test-images-{os.geteuid()}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def profile_folder(place: Path, name: str, changes: str = "") -> Path:
    """Return a folder of profiles: the shipped ones, and `name` with lines of YAML at its end."""
    folder = place / sha256(f"{name}\n{changes}".encode()).hexdigest()[:16]
    shutil.copytree(SHIPPED, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    (folder / IMAGES / f"{name}.yaml").write_text(SLIM.format(name=name) + changes)
    return folder


def slim_profile(folder: Path, name: str) -> DebianImage:
    """Return the profile of a folder."""
    images, findings = load_images(sorted((folder / IMAGES).glob("*.yaml")))
    assert findings == []
    profile = images[name].profile
    assert isinstance(profile, DebianImage)
    return profile


def build_profile(profile: DebianImage, data_dir: Path, *, report: Silent | None = None) -> Built:
    """Build as the command does, from the machine's apt sources."""
    supplies = SiteSupplies(profile, {}, data_dir.resolve() / "packages", load_facts(), datetime.now(UTC).date())
    return build_debian_image(BuildRequest(profile, data_dir, supplies), report or Silent())


def build_slim_image(name: str, changes: str = "") -> SlimImage:
    """Return a small image that any test may boot or look at and none may change; built unless it is there.

    `changes`: more of its profile, as YAML. Other changes are another image, which shares what packages make.
    """
    need_building_tools()
    shared = shared_folder()
    profiles = profile_folder(shared / "profiles", name, changes)
    built = build_profile(slim_profile(profiles, name), shared / "data")
    return SlimImage(shared / "data", built.manifest.digest, profiles)
